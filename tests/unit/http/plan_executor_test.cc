#include "emulator/http/plan_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test_server.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<BodyStep> Steps(std::initializer_list<std::string> texts, BodyStep last) {
  std::vector<BodyStep> steps;
  for (const std::string& text : texts) steps.push_back(BodyStep::Bytes(text));
  steps.push_back(std::move(last));
  return steps;
}

std::unique_ptr<StepSource> Source(std::vector<BodyStep> steps, std::shared_ptr<StepSource::Log> log = nullptr) {
  return std::make_unique<StepSource>(std::move(steps), std::move(log));
}

const char* const kTwoChunks = "5\r\nhello\r\n6\r\n world\r\n";

TEST(PlanExecutorTest, SendsStatusReasonHeadersAndBodyExactly) {
  TestServer server;
  ReplyPlan plan;
  plan.status = 202;
  plan.reason = "Why Not";
  plan.headers = {{"x-B", "2"}, {"content-LENGTH", "3"}, {"X-a", ""}, {"x-B", "1"}};
  plan.body = "abc";
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  const std::string expected = "HTTP/1.1 202 Why Not\r\nx-B: 2\r\ncontent-LENGTH: 3\r\nX-a: \r\nx-B: 1\r\n\r\nabc";
  EXPECT_EQ(client.ReadBytes(expected.size()), expected);
  const ExchangeEnd end = server.WaitForEnd();
  EXPECT_EQ(end.status, 202);
  EXPECT_EQ(end.head_bytes, expected.size() - 3);
  EXPECT_EQ(end.body_bytes, 3u);
  EXPECT_EQ(end.ending, Ending::kComplete);
  EXPECT_FALSE(end.client_closed);
  EXPECT_EQ(end.at, server.At(0s));
}

TEST(PlanExecutorTest, AFixedReplyIsOnePacket) {
  TestServer server;
  server.Next(TextPlan("hello"));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  std::string piece;
  StreamEnd end{};
  ASSERT_TRUE(client.ReadPiece(&piece, 1h, &end));
  EXPECT_EQ(piece, TextReply("hello"));
}

struct EndingRow {
  Ending ending;
  const char* fixed_tail;    // behind the body
  const char* chunked_tail;  // behind the chunks
  StreamEnd end;
};
void PrintTo(const EndingRow& row, std::ostream* out) { *out << ToString(row.ending); }

class PlanExecutorEndingTest : public ::testing::TestWithParam<EndingRow> {};

INSTANTIATE_TEST_SUITE_P(Endings, PlanExecutorEndingTest,
                         ::testing::Values(EndingRow{Ending::kClean, "", "0\r\n\r\n", StreamEnd::kFin},
                                           EndingRow{Ending::kNoTerminator, "", "", StreamEnd::kFin},
                                           EndingRow{Ending::kFin, "", "", StreamEnd::kFin},
                                           EndingRow{Ending::kRst, "", "", StreamEnd::kRst},
                                           EndingRow{Ending::kSilence, "", "", StreamEnd::kSilence}),
                         [](const auto& row) { return std::string(ToString(row.param.ending)); });

TEST_P(PlanExecutorEndingTest, EndsAFixedBody) {
  TestServer server;
  ReplyPlan plan = TextPlan("hello");
  plan.ending = GetParam().ending;
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, TextReply("hello") + GetParam().fixed_tail);
  EXPECT_EQ(received.end, GetParam().end);
  client.Close();
  EXPECT_EQ(server.WaitForEnd().ending, GetParam().ending);
  server.ExpectAlive();
}

TEST_P(PlanExecutorEndingTest, EndsAChunkedBody) {
  TestServer server;
  server.Next(StreamPlan(Source(Steps({"hello", " world"}, BodyStep::End(GetParam().ending)))));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, kStreamHead + kTwoChunks + GetParam().chunked_tail);
  EXPECT_EQ(received.end, GetParam().end);
  client.Close();
  const ExchangeEnd end = server.WaitForEnd();
  EXPECT_EQ(end.ending, GetParam().ending);
  EXPECT_EQ(end.head_bytes, kStreamHead.size());
  EXPECT_EQ(end.body_bytes, 11u);
  EXPECT_EQ(end.client_closed, GetParam().ending == Ending::kSilence);
  server.ExpectAlive();
}

TEST_P(PlanExecutorEndingTest, EndsAHeadRequestOnlyAfterItsHead) {
  TestServer server;
  ReplyPlan plan = TextPlan("hello");
  plan.ending = GetParam().ending;
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(received.end, GetParam().end);
}

class PlanExecutorCutTest : public ::testing::TestWithParam<EndingRow> {};

INSTANTIATE_TEST_SUITE_P(Endings, PlanExecutorCutTest,
                         ::testing::Values(EndingRow{Ending::kNoTerminator, "", "", StreamEnd::kFin},
                                           EndingRow{Ending::kFin, "", "", StreamEnd::kFin},
                                           EndingRow{Ending::kRst, "", "", StreamEnd::kRst},
                                           EndingRow{Ending::kSilence, "", "", StreamEnd::kSilence}),
                         [](const auto& row) { return std::string(ToString(row.param.ending)); });

TEST_P(PlanExecutorCutTest, CutsAFixedReplyAnywhere) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  struct Row {
    Cut::At at;
    std::uint64_t bytes;
    std::string expected;
    int status;
  };
  const Row rows[] = {
      {Cut::At::kBeforeHead, 0, "", 0},
      {Cut::At::kAfterHead, 0, head, 200},
      {Cut::At::kBodyByte, 0, head, 200},
      {Cut::At::kBodyByte, 1, head + "h", 200},
      {Cut::At::kBodyByte, 4, head + "hell", 200},
      {Cut::At::kBodyByte, 5, head + "hello", 200},
  };
  TestServer server;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.expected);
    ReplyPlan plan = TextPlan("hello");
    plan.garbage_before_head = row.at == Cut::At::kBeforeHead ? "garbage" : "";
    plan.cut = Cut{row.at, row.bytes, GetParam().ending};
    server.Next(std::move(plan));
    RawClient client = server.Connect();
    client.Send(Get("/"));
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes, row.expected);
    EXPECT_EQ(received.end, GetParam().end);
    client.Close();
    const ExchangeEnd end = server.WaitForEnd();
    EXPECT_EQ(end.status, row.status);
    EXPECT_EQ(end.ending, GetParam().ending);
    EXPECT_EQ(end.body_bytes, row.bytes);
    server.ExpectAlive();
  }
}

TEST_P(PlanExecutorCutTest, CutsAChunkedStreamAtAnyPayloadByte) {
  const std::string first = "5\r\nhello\r\n";
  const std::pair<std::uint64_t, std::string> rows[] = {
      {0, ""},
      {1, "5\r\nh"},
      {4, "5\r\nhell"},
      {5, first},  // a cut between two chunks leaves the first one whole
      {6, first + "6\r\n "},
      {11, kTwoChunks},
  };
  TestServer server;
  for (const auto& [bytes, expected] : rows) {
    SCOPED_TRACE(bytes);
    ReplyPlan plan = StreamPlan(Source(Steps({"hello", " world"}, BodyStep::End())));
    plan.cut = Cut{Cut::At::kBodyByte, bytes, GetParam().ending};
    server.Next(std::move(plan));
    RawClient client = server.Connect();
    client.Send(Get("/"));
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes, kStreamHead + expected);
    EXPECT_EQ(received.end, GetParam().end);
    client.Close();
    const ExchangeEnd end = server.WaitForEnd();
    EXPECT_EQ(end.ending, GetParam().ending);
    EXPECT_EQ(end.body_bytes, bytes);
    server.ExpectAlive();
  }
}

TEST(PlanExecutorTest, ACutBehindTheEndDoesNotHappen) {
  TestServer server;
  ReplyPlan plan = TextPlan("hello");
  plan.cut = Cut{Cut::At::kBodyByte, 6, Ending::kRst};
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadBytes(TextReply("hello").size()), TextReply("hello"));
  EXPECT_EQ(server.WaitForEnd().ending, Ending::kComplete);
}

TEST(PlanExecutorTest, AResetComesBehindEverythingSentBefore) {
  // The client's window is far smaller than the reply: a careless reset would throw away what the kernel still holds.
  TestServer server;
  const std::string body(3 << 20, 'x');
  for (int round = 0; round < 5; ++round) {
    ReplyPlan plan = TextPlan(body);
    plan.ending = Ending::kRst;
    server.Next(std::move(plan));
    RawClient client(server.clock(), server.http().port(), 16 << 10);
    client.Send(Get("/"));
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes.size(), TextReply(body).size());
    EXPECT_EQ(received.end, StreamEnd::kRst);
    server.WaitForEnd();
  }
}

TEST(PlanExecutorTest, ACompleteReplyKeepsTheConnection) {
  TestServer server;
  RawClient client = server.Connect();
  for (int i = 0; i < 3; ++i) {
    server.Next(StreamPlan(Source(Steps({"hello"}, BodyStep::End()))));
    client.Send(Get("/"));
    EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), kStreamHead + "5\r\nhello\r\n0\r\n\r\n");
    EXPECT_EQ(server.WaitForEnd().ending, Ending::kComplete);
  }
  for (const Request& request : server.requests()) EXPECT_EQ(request.connection, 1u);
}

TEST(PlanExecutorTest, DelaysAreExactAndCostNoRealTime) {
  TestServer server;
  ReplyPlan plan = TextPlan("hello");
  plan.delay_before_head = 24h;
  plan.delay_before_body = 90min;
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  StreamEnd end{};
  std::string piece;
  ASSERT_TRUE(client.ReadPiece(&piece, 48h, &end));
  EXPECT_EQ(piece, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(server.clock().Elapsed(), 24h);
  ASSERT_TRUE(client.ReadPiece(&piece, 48h, &end));
  EXPECT_EQ(piece, "hello");
  EXPECT_EQ(server.clock().Elapsed(), 24h + 90min);
  EXPECT_EQ(server.WaitForEnd().at, server.At(24h + 90min));
}

TEST(PlanExecutorTest, StreamsInTime) {
  TestServer server;
  std::vector<BodyStep> steps;
  for (int i = 1; i <= 5; ++i) {
    steps.push_back(BodyStep::Wait(server.At(i * 50ms)));
    steps.push_back(BodyStep::Bytes("tick"));
  }
  steps.push_back(BodyStep::End());
  server.Next(StreamPlan(Source(std::move(steps))));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), kStreamHead);
  EXPECT_EQ(server.clock().Elapsed(), 0ms);  // the head does not wait for the first event
  std::vector<Duration> times;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.ReadUntil("tick\r\n"), "4\r\ntick\r\n");
    times.push_back(server.clock().Elapsed());
  }
  EXPECT_THAT(times, ElementsAre(50ms, 100ms, 150ms, 200ms, 250ms));
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
}

TEST(PlanExecutorTest, FlushedStepsAreSeparatePacketsAndOthersAreNot) {
  TestServer server;
  std::vector<BodyStep> steps;
  steps.push_back(BodyStep::Bytes("a"));
  steps.push_back(BodyStep::Wait(server.At(1s)));
  steps.push_back(BodyStep::Bytes("b"));
  steps.back().flush = false;
  steps.push_back(BodyStep::Bytes("c"));
  steps.push_back(BodyStep::Wait(server.At(2s)));
  steps.push_back(BodyStep::Bytes("d"));
  steps.back().flush = false;
  steps.push_back(BodyStep::Wait(server.At(3s)));
  steps.push_back(BodyStep::Bytes("raw"));
  steps.back().raw = true;
  steps.push_back(BodyStep::Wait(server.At(4s)));
  steps.push_back(BodyStep::Bytes("e"));
  steps.back().flush = false;
  steps.push_back(BodyStep::End());
  server.Next(StreamPlan(Source(std::move(steps))));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), kStreamHead);
  EXPECT_EQ(client.ReadUntil("a\r\n"), "1\r\na\r\n");
  std::vector<std::string> pieces;
  StreamEnd end{};
  for (int i = 0; i < 4; ++i) {
    std::string piece;
    ASSERT_TRUE(client.ReadPiece(&piece, 1h, &end));
    pieces.push_back(piece);
  }
  EXPECT_THAT(pieces, ElementsAre("1\r\nb\r\n1\r\nc\r\n", "1\r\nd\r\n", "raw", "1\r\ne\r\n0\r\n\r\n"));
}

TEST(PlanExecutorTest, TheHeadAndEveryFlushedStepAreHandedOverBySeparateSends) {
  // A window of one packet can't tell that; the kernel's count of segments can.
  TestServer server;
  server.Next(StreamPlan(Source(Steps({"a", "b", "c"}, BodyStep::End()))));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  client.ReadUntil("0\r\n\r\n");
  tcp_info info{};
  socklen_t size = sizeof(info);
  ASSERT_EQ(getsockopt(client.fd(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  EXPECT_EQ(info.tcpi_data_segs_in, 5u);  // head, a, b, c, terminator
}

class WakeSource : public BodySource {
 public:
  explicit WakeSource(std::shared_ptr<std::atomic<int>> ready) : ready_(std::move(ready)) {}
  void BindWaker(std::shared_ptr<Waker> waker) override {
    std::lock_guard lock(Mutex());
    Bound() = std::move(waker);
  }
  BodyStep Next(TimePoint, WallTime) override {
    if (sent_ < *ready_) {
      ++sent_;
      return sent_ == 3 ? BodyStep::End() : BodyStep::Bytes("woken");
    }
    return BodyStep::Wait(std::nullopt);
  }
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::shared_ptr<Waker>& Bound() {
    static std::shared_ptr<Waker> waker;
    return waker;
  }

 private:
  std::shared_ptr<std::atomic<int>> ready_;
  int sent_ = 0;
};

TEST(PlanExecutorTest, AWakerBringsTheNextStepForward) {
  TestServer server;
  const auto ready = std::make_shared<std::atomic<int>>(0);
  server.Next(StreamPlan(std::make_unique<WakeSource>(ready)));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), kStreamHead);
  for (int i = 1; i <= 3; ++i) {
    server.clock().SleepFor(10s);
    ++*ready;
    {
      std::lock_guard lock(WakeSource::Mutex());
      WakeSource::Bound()->Wake();
    }
    if (i < 3) {
      EXPECT_EQ(client.ReadUntil("woken\r\n"), "5\r\nwoken\r\n");
    } else {
      EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
    }
    EXPECT_EQ(server.clock().Elapsed(), i * 10s);
  }
  std::lock_guard lock(WakeSource::Mutex());
  WakeSource::Bound() = nullptr;
}

TEST(PlanExecutorTest, SeesTheClientCloseDuringADelay) {
  for (const bool reset : {false, true}) {
    TestServer server;
    ReplyPlan plan = TextPlan("never");
    plan.delay_before_head = 1h;
    server.Next(std::move(plan));
    RawClient client = server.Connect();
    client.Send(Get("/"));
    server.clock().SleepFor(7s);
    if (reset) {
      client.CloseRst();
    } else {
      client.Close();
    }
    const ExchangeEnd end = server.WaitForEnd();
    EXPECT_TRUE(end.client_closed);
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.head_bytes, 0u);
    EXPECT_EQ(end.ending, std::nullopt);
    EXPECT_EQ(end.at, server.At(7s));
    server.ExpectAlive();
    EXPECT_TRUE(server.NoMoreEnds());
  }
}

TEST(PlanExecutorTest, SeesTheClientCloseDuringAStreamsPauseAndTellsTheSource) {
  for (const bool reset : {false, true}) {
    TestServer server;
    const auto log = std::make_shared<StepSource::Log>();
    server.Next(StreamPlan(Source(Steps({"hello"}, BodyStep::Wait(std::nullopt)), log)));
    RawClient client = server.Connect();
    client.Send(Get("/"));
    client.ReadUntil("hello\r\n");
    server.clock().SleepFor(3s);
    if (reset) {
      client.CloseRst();
    } else {
      client.Close();
    }
    const ExchangeEnd end = server.WaitForEnd();
    EXPECT_TRUE(end.client_closed);
    EXPECT_EQ(end.status, 200);
    EXPECT_EQ(end.body_bytes, 5u);
    EXPECT_EQ(end.at, server.At(3s));
    EXPECT_TRUE(log->client_closed);
    EXPECT_EQ(log->client_closed_at, server.At(3s));
  }
}

TEST(PlanExecutorTest, SilenceEndsWhenTheClientClosesHoweverMuchItSentMeanwhile) {
  TestServer server;
  const auto log = std::make_shared<StepSource::Log>();
  server.Next(StreamPlan(Source(Steps({"hello"}, BodyStep::End(Ending::kSilence)), log)));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  client.ReadUntil("hello\r\n");
  ASSERT_TRUE(client.Send(std::string(4 << 20, 'z')));
  server.clock().SleepFor(10min);
  EXPECT_TRUE(server.NoMoreEnds());
  client.Close();
  const ExchangeEnd end = server.WaitForEnd();
  EXPECT_EQ(end.ending, Ending::kSilence);
  EXPECT_TRUE(end.client_closed);
  EXPECT_EQ(end.at, server.At(10min));
  EXPECT_TRUE(log->client_closed);
  server.ExpectAlive();
}

// Endless output, counted.
class EndlessSource : public BodySource {
 public:
  explicit EndlessSource(std::shared_ptr<std::atomic<std::uint64_t>> made) : made_(std::move(made)) {}
  BodyStep Next(TimePoint, WallTime) override {
    *made_ += kStep;
    return BodyStep::Bytes(std::string(kStep, 'x'));
  }
  static constexpr std::uint64_t kStep = 64 << 10;

 private:
  std::shared_ptr<std::atomic<std::uint64_t>> made_;
};

TEST(PlanExecutorTest, AClientThatDoesNotReadHoldsTheSourceBack) {
  TestServerOptions options;
  options.clock = std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  TestServer server(std::move(options));
  const auto made = std::make_shared<std::atomic<std::uint64_t>>(0);
  server.Next(StreamPlan(std::make_unique<EndlessSource>(made)));
  RawClient client(server.clock(), server.http().port(), 16 << 10);
  client.Send(Get("/"));
  // The server comes to rest with the kernel's buffers full: bounded by them, not by the source.
  const auto waits_for_client = [&] {
    for (const auto& pending : server.clock().PendingDeadlines()) {
      if (pending.label.find("client reads") != std::string::npos) return true;
    }
    return false;
  };
  while (!waits_for_client()) std::this_thread::yield();
  const std::uint64_t made_first = *made;
  EXPECT_LT(made_first, 16u << 20);
  // Once it reads, the stream goes on, all of it in order.
  const std::string bytes = client.ReadBytes(32 << 20);
  EXPECT_EQ(bytes.compare(0, kStreamHead.size() + 7, kStreamHead + "10000\r\n"), 0);
  EXPECT_GT(*made, made_first);
  client.Close();
  const ExchangeEnd end = server.WaitForEnd();
  EXPECT_TRUE(end.client_closed);
  EXPECT_EQ(end.ending, std::nullopt);
  EXPECT_LE(end.body_bytes, *made);
  EXPECT_GE(end.body_bytes, (32u << 20) - (1u << 16));
}

TEST(PlanExecutorTest, GarbageStandsBeforeTheStatusLine) {
  TestServer server;
  ReplyPlan plan = TextPlan("hello");
  plan.garbage_before_head = "\x01\x02\r\n";
  plan.ending = Ending::kFin;
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadToEnd().bytes, "\x01\x02\r\n" + TextReply("hello"));
}

TEST(PlanExecutorTest, NoBodyWhereHttpAllowsNone) {
  TestServer server;
  for (const int status : {204, 304}) {
    ReplyPlan plan;
    plan.status = status;
    plan.body = "must not be sent";
    server.Next(std::move(plan));
    ReplyPlan chunked = StreamPlan(Source(Steps({"nor this"}, BodyStep::End(Ending::kRst))));
    chunked.status = status;
    server.Next(std::move(chunked));
    RawClient client = server.Connect();
    client.Send(Get("/") + Get("/") + Get("/last", "Connection: close\r\n"));
    const std::string first = "HTTP/1.1 " + std::to_string(status) + " " + std::string(StandardReason(status));
    EXPECT_EQ(client.ReadToEnd().bytes,
              first + "\r\n\r\n" + first + "\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" +
                  TextReply("ok"));
  }
}

TEST(PlanExecutorTest, AnEmptyChunkedBodyIsOnlyItsTerminator) {
  TestServer server;
  ReplyPlan plan = StreamPlan(nullptr);
  server.Next(std::move(plan));
  server.Next(StreamPlan(Source(Steps({"", ""}, BodyStep::End()))));
  RawClient client = server.Connect();
  for (int i = 0; i < 2; ++i) {
    client.Send(Get("/"));
    EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), kStreamHead + "0\r\n\r\n");
  }
}

TEST(PlanExecutorTest, AChunkedFixedBodyIsOneChunk) {
  TestServer server;
  ReplyPlan plan = StreamPlan(nullptr);
  plan.body = "hello";
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), kStreamHead + "5\r\nhello\r\n0\r\n\r\n");
}

TEST(PlanExecutorTest, ABodyOfUntoldLengthEndsWithTheConnection) {
  TestServer server;
  ReplyPlan plan;
  plan.headers = {{"Content-Type", "text/plain"}};
  plan.body = "hello";
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello");
  EXPECT_EQ(received.end, StreamEnd::kFin);
  EXPECT_EQ(received.at, server.At(0s));
}

TEST(PlanExecutorTest, ALyingContentLengthLeavesTheConnectionAsPlanned) {
  TestServer server;
  ReplyPlan plan = TextPlan("hello");
  plan.headers[0].value = "500";
  plan.ending = Ending::kNoTerminator;
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhello");
  EXPECT_EQ(received.end, StreamEnd::kFin);
}

class ThrowingSource : public BodySource {
 public:
  BodyStep Next(TimePoint, WallTime) override { throw std::runtime_error("boom"); }
};

TEST(PlanExecutorTest, ASourceThatThrowsEndsItsConnectionOnly) {
  TestServer server;
  server.Next(StreamPlan(std::make_unique<ThrowingSource>()));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, kStreamHead);
  EXPECT_EQ(received.end, StreamEnd::kRst);
  EXPECT_EQ(server.WaitForEnd().ending, std::nullopt);
  EXPECT_TRUE(server.NoMoreEnds());
  server.ExpectAlive();
}

}  // namespace
}  // namespace opensandbox::emulator
