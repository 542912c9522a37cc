// Many connections at once, in real time: what is claimed is that nothing is lost and all is given back.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "emulator/http/http_server.h"
#include "raw_client.h"
#include "test_server.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

int CountEntries(const char* folder) {
  int count = 0;
  if (DIR* directory = opendir(folder)) {
    while (readdir(directory) != nullptr) ++count;
    closedir(directory);
  }
  return count;
}
int CountThreads() {
  // ThreadSanitizer starts a thread of its own beside the first one and keeps it.
  std::thread([] {}).join();
  return CountEntries("/proc/self/task");
}
// A joined thread stands in /proc until the kernel has taken it apart. A thread that stays runs into the test's time
// limit.
void WaitForThreads(int count) {
  while (CountThreads() > count) std::this_thread::yield();
}
int CountDescriptors() { return CountEntries("/proc/self/fd"); }

// Both ends of each connection are in this process.
bool AllowDescriptors(rlim_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min(std::max(limit.rlim_cur, count), limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur >= count;
}

class HttpServerLoadTest : public ::testing::Test {
 protected:
  void Start(HttpServer::Handler handler, HttpServerOptions options = {}) {
    server_ = HttpServer::Start(std::move(options), std::move(handler), {}).value();
  }
  RawClient Connect() { return RawClient(SystemClock::Instance(), server_->port()); }
  void ExpectResponsive() {
    RawClient client = Connect();
    client.Send(Get("/"));
    EXPECT_EQ(client.ReadBytes(TextReply("ok").size()), TextReply("ok"));
  }
  void WaitForOpenConnections(std::size_t count) {
    while (server_->open_connections() != count) std::this_thread::yield();
  }

  std::unique_ptr<HttpServer> server_;
};

HttpServer::Handled Ok(const Request&) { return {TextPlan("ok"), nullptr}; }

TEST_F(HttpServerLoadTest, AThousandIdleConnectionsDoNotStarveAnother) {
  ASSERT_TRUE(AllowDescriptors(2500));
  Start(Ok);
  std::vector<RawClient> idle;
  for (int i = 0; i < 1000; ++i) idle.push_back(Connect());
  WaitForOpenConnections(1000);
  ExpectResponsive();
  for (RawClient& client : idle) {
    client.Send(Get("/"));
    ASSERT_EQ(client.ReadUntil("ok"), TextReply("ok"));
  }
  ExpectResponsive();
}

TEST_F(HttpServerLoadTest, TwoThousandSilentStreamsAreOpenAtOnceAndGivenBack) {
  ASSERT_TRUE(AllowDescriptors(8500));
  const int threads_before = CountThreads();
  const int descriptors_before = CountDescriptors();
  constexpr int kStreams = 2000;
  std::atomic<int> ended = 0, closed_by_client = 0;
  Start([&](const Request& request) -> HttpServer::Handled {
    if (request.path != "/stream") return {TextPlan("ok"), nullptr};
    std::vector<BodyStep> steps;
    steps.push_back(BodyStep::Bytes("hello"));
    // Half of them silent by their plan, half because their source has nothing to say yet.
    if (request.connection % 2 == 0) steps.push_back(BodyStep::End(Ending::kSilence));
    ReplyPlan plan = StreamPlan(std::make_unique<StepSource>(std::move(steps)));
    plan.on_end = [&](const ExchangeEnd& end) {
      if (end.client_closed) ++closed_by_client;
      ++ended;
    };
    return {std::move(plan), nullptr};
  });
  {
    std::vector<RawClient> streams;
    for (int i = 0; i < kStreams; ++i) {
      streams.push_back(Connect());
      streams.back().Send(Get("/stream"));
    }
    for (RawClient& stream : streams) {
      ASSERT_EQ(stream.ReadUntil("hello\r\n"), kStreamHead + "5\r\nhello\r\n");
    }
    EXPECT_EQ(server_->open_connections(), static_cast<std::size_t>(kStreams));
    EXPECT_EQ(ended, 0);
    ExpectResponsive();
  }
  WaitForOpenConnections(0);
  EXPECT_EQ(ended, kStreams);
  EXPECT_EQ(closed_by_client, kStreams);
  ExpectResponsive();
  server_.reset();
  WaitForThreads(threads_before);
  EXPECT_EQ(CountDescriptors(), descriptors_before);
}

TEST_F(HttpServerLoadTest, StopEndsManyOpenStreams) {
  ASSERT_TRUE(AllowDescriptors(2500));
  const int threads_before = CountThreads();
  Start([](const Request&) -> HttpServer::Handled {
    return {StreamPlan(std::make_unique<StepSource>(std::vector<BodyStep>{})), nullptr};
  });
  std::vector<RawClient> streams;
  for (int i = 0; i < 500; ++i) {
    streams.push_back(Connect());
    streams.back().Send(Get("/"));
  }
  for (RawClient& stream : streams) stream.ReadUntil("\r\n\r\n");
  server_->Stop(0s);
  EXPECT_EQ(server_->open_connections(), 0u);
  WaitForThreads(threads_before);
  for (RawClient& stream : streams) EXPECT_EQ(stream.ReadToEnd().end, StreamEnd::kFin);
}

TEST_F(HttpServerLoadTest, WithoutDescriptorsTheConnectionsWaitAndTheServerLives) {
  Start(Ok);
  std::vector<RawClient> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(Connect());
  WaitForOpenConnections(10);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit tight = {.rlim_cur = static_cast<rlim_t>(CountDescriptors()) + 20, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &tight);
  std::vector<int> fillers;
  for (int fd = dup(0); fd >= 0; fd = dup(0)) fillers.push_back(fd);
  ASSERT_FALSE(fillers.empty());
  // One descriptor for this client's end, none for the server's.
  close(fillers.back());
  fillers.pop_back();
  RawClient waiting = Connect();
  waiting.Send(Get("/"));
  clients.front().Send(Get("/"));
  EXPECT_EQ(clients.front().ReadUntil("ok"), TextReply("ok"));
  EXPECT_EQ(server_->open_connections(), 10u);
  clients.clear();
  EXPECT_EQ(waiting.ReadUntil("ok"), TextReply("ok"));
  for (const int fd : fillers) close(fd);
  setrlimit(RLIMIT_NOFILE, &before);
  ExpectResponsive();
}

TEST_F(HttpServerLoadTest, ConnectionsFarOverTheLimitAreEachRefusedAndTheOthersServed) {
  HttpServerOptions options;
  options.connections_max = 10;
  Start(Ok, options);
  std::vector<RawClient> admitted;
  for (int i = 0; i < 10; ++i) {
    admitted.push_back(Connect());
    admitted.back().Send(Get("/"));
    admitted.back().ReadUntil("ok");
  }
  std::vector<RawClient> others;
  for (int i = 0; i < 200; ++i) others.push_back(Connect());
  int told = 0, reset = 0;
  for (RawClient& client : others) {
    const Received received = client.ReadToEnd();
    if (received.bytes.empty()) {
      EXPECT_EQ(received.end, StreamEnd::kRst);
      ++reset;
    } else {
      EXPECT_THAT(received.bytes, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
      ++told;
    }
    client.Close();
  }
  EXPECT_EQ(told + reset, 200);
  EXPECT_GE(told, 16);
  for (RawClient& client : admitted) {
    client.Send(Get("/"));
    EXPECT_EQ(client.ReadUntil("ok"), TextReply("ok"));
  }
}

TEST_F(HttpServerLoadTest, ManyClientsWithManyRequestsAllGetTheirOwnAnswers) {
  Start([](const Request& request) -> HttpServer::Handled { return {TextPlan(request.path + request.body), nullptr}; });
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([this, i, &right] {
      RawClient client = Connect();
      for (int j = 0; j < 200; ++j) {
        const std::string path = "/" + std::to_string(i) + "/" + std::to_string(j);
        const std::string body(static_cast<std::size_t>(j * 37), 'b');
        client.Send("POST " + path + " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        const std::string expected = TextReply(path + body);
        if (client.ReadBytes(expected.size()) == expected) ++right;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 16 * 200);
}

}  // namespace
}  // namespace opensandbox::emulator
