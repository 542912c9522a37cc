// Starting, refusing to start, and surviving what is no proper request.
#include <gmock/gmock.h>

#include "tests/e2e/service_support.h"
#include "tests/support/matchers.h"

namespace opensandbox::emulator {
namespace {

using ::opensandbox::testing::FailsWith;
using ::opensandbox::testing::IsOk;
using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::StartsWith;

auto Saying(const std::string& part) { return Field(&Error::message, HasSubstr(part)); }

TEST(ServiceStartTest, TellsItsAddresses) {
  const auto emulator = StartEmulator({.control_port = 0});
  EXPECT_THAT(emulator->address(), StartsWith("127.0.0.1:"));
  EXPECT_EQ(emulator->base_url(), "http://" + emulator->address() + "/v1");
  EXPECT_THAT(emulator->control_address(), StartsWith("127.0.0.1:"));
  EXPECT_NE(emulator->control_address(), emulator->address());
  EXPECT_NE(PortOf(emulator->address()), 0);
  EXPECT_EQ(StartEmulator({})->control_address(), "");
}

TEST(ServiceStartTest, SeedIsGivenOrDrawn) {
  EXPECT_EQ(StartEmulator({.seed = 99})->seed(), 99u);
  const std::uint64_t drawn = StartEmulator({})->seed();
  EXPECT_NE(drawn, 0u);
  EXPECT_NE(drawn, StartEmulator({})->seed());
  const auto emulator = StartEmulator({});
  EXPECT_EQ(emulator->FindTenant("default")->seed, emulator->seed());
}

TEST(ServiceStartTest, UsedPortIsOneClearError) {
  const auto first = StartEmulator({.control_port = 0});
  const int used = PortOf(first->address());
  EXPECT_THAT(Emulator::Start({.port = used}), FailsWith(ErrorKind::kTransport, Saying(std::to_string(used))));
  const int used_control = PortOf(first->control_address());
  EXPECT_THAT(Emulator::Start({.control_port = used_control}),
              FailsWith(ErrorKind::kTransport, Saying(std::to_string(used_control))));
}

TEST(ServiceStartTest, PortIsFreeAgainAfterStop) {
  auto first = StartEmulator({});
  const int port = PortOf(first->address());
  first->Stop(Duration{0});
  EXPECT_EQ(PortOf(StartEmulator({.port = port})->address()), port);
}

TEST(ServiceStartTest, BadArgumentsAreRefused) {
  for (const int port : {-1, 65536}) {
    EXPECT_THAT(Emulator::Start({.port = port}), FailsWith(ErrorKind::kInvalidArgument, Saying("0 to 65535")));
    EXPECT_THAT(Emulator::Start({.control_port = port}), FailsWith(ErrorKind::kInvalidArgument, Saying("0 to 65535")));
  }
  EXPECT_THAT(Emulator::Start({.host = ""}), FailsWith(ErrorKind::kInvalidArgument, Saying("host")));
  EXPECT_THAT(Emulator::Start({.tenants = {{.api_key = "a b"}}}), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Emulator::Start({.tenants = {{.api_key = "a"}, {.api_key = "b"}}}),
              FailsWith(ErrorKind::kInvalidArgument, Saying("already is a tenant 'default'")));
}

TEST(ServiceStartTest, AnotherAddressThanLoopbackNeedsAKey) {
  EXPECT_THAT(Emulator::Start({.host = "0.0.0.0"}),
              FailsWith(ErrorKind::kInvalidArgument, AllOf(Saying("not loopback"), Saying("'default'"))));
  EXPECT_THAT(Emulator::Start({.host = "0.0.0.0", .tenants = {{.name = "a", .api_key = "a"}, {.name = "b"}}}),
              FailsWith(ErrorKind::kInvalidArgument, Saying("'b'")));
  const auto emulator = StartEmulator({.host = "0.0.0.0", .control_port = 0, .tenants = {{.api_key = "k"}}});
  EXPECT_THAT(emulator->AddTenant({.name = "b"}), FailsWith(ErrorKind::kInvalidArgument, Saying("not loopback")));
  EXPECT_THAT(emulator->base_url(), StartsWith("http://127.0.0.1:"));
  EXPECT_THAT(emulator->control_address(), StartsWith("127.0.0.1:"));
}

TEST(ServiceStartTest, EndpointIsWhereTheClientCameFrom) {
  const auto emulator = StartEmulator({.host = "0.0.0.0", .tenants = {{.api_key = "k"}}});
  ServiceClient client(SystemClock::Instance(), emulator->address(), "k");
  const std::string id = client.Create();
  HttpConnection connection(SystemClock::Instance(), emulator->address());
  const HttpAnswer answer = connection.Exchange(
      "GET /v1/sandboxes/" + id + "/endpoints/44772 HTTP/1.1\r\nHost: emulator.test:81\r\n" + KeyField("k") + "\r\n");
  EXPECT_EQ(answer.Json()["endpoint"], "emulator.test:81/sandbox/" + id + "/proxy/44772");
  const HttpAnswer odd = connection.Exchange("GET /v1/sandboxes/" + id + "/endpoints/44772 HTTP/1.1\r\nHost: a/b\r\n" +
                                             KeyField("k") + "\r\n");
  EXPECT_EQ(odd.Json()["endpoint"],
            "127.0.0.1:" + std::to_string(PortOf(emulator->address())) + "/sandbox/" + id + "/proxy/44772");
}

class ServiceLimitTest : public ::testing::Test {
 protected:
  HttpAnswer Post(const Emulator& emulator, std::size_t bytes) {
    return ServiceClient(SystemClock::Instance(), emulator.address())
        .Send("POST", "/v1/sandboxes", std::string(bytes, ' '));
  }
};

TEST_F(ServiceLimitTest, BodyOverTheLimitIs413) {
  const auto emulator = StartEmulator({.request_body_bytes_max = 1000});
  EXPECT_EQ(Post(*emulator, 999).status, 422);
  EXPECT_EQ(Post(*emulator, 1000).status, 422);
  const HttpAnswer refused = Post(*emulator, 1001);
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.Json()["message"], "Request body is larger than 1000 bytes.");
  EXPECT_EQ(Post(*emulator, 10).status, 422);
}

TEST_F(ServiceLimitTest, ConnectionOverTheLimitIs503) {
  const auto emulator = StartEmulator({.connections_max = 2});
  HttpConnection first(SystemClock::Instance(), emulator->address());
  HttpConnection second(SystemClock::Instance(), emulator->address());
  EXPECT_EQ(first.Exchange(HttpRequest("GET", "/health")).status, 200);
  EXPECT_EQ(second.Exchange(HttpRequest("GET", "/health")).status, 200);
  HttpConnection third(SystemClock::Instance(), emulator->address());
  const HttpAnswer refused = third.Exchange(HttpRequest("GET", "/health"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "Service Unavailable");
  EXPECT_EQ(second.Exchange(HttpRequest("GET", "/health")).status, 200);
}

TEST_F(ServiceLimitTest, SandboxOverTheLimitIsRefusedAndTheRestServed) {
  const auto emulator = StartEmulator({.sandboxes_live_max = 2});
  ServiceClient client(SystemClock::Instance(), emulator->address());
  const std::string first = client.Create();
  client.Create();
  EXPECT_GE(client.Send("POST", "/v1/sandboxes", kCreateBody).status, 429);
  EXPECT_EQ(client.Send("DELETE", "/v1/sandboxes/" + first).status, 204);
  client.Create();
}

TEST(ServiceRobustnessTest, NoRequestHoweverBrokenEndsTheProcess) {
  const auto emulator = StartEmulator({.control_port = 0});
  const std::string nul("\0\0\0\0", 4);
  for (const std::string& address : {emulator->address(), emulator->control_address()}) {
    for (const std::string& bytes :
         {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"), nul + "\r\n\r\n",
          std::string("GET /v1/sandboxes HTTP/1.1\r\n: x\r\n\r\n"),
          std::string("GET /%00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
          std::string("POST /v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n"),
          std::string("POST /v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
          std::string("POST /v1/sandboxes HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
          std::string("PUT /tenants/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\n\xff\xfe\xfd"),
          "GET /" + std::string(100000, 'a') + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + std::string(200000, 'x') + "\r\n\r\n",
          "POST /sandbox/x/proxy/44772/code HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 20000\r\n\r\n" +
              std::string(20000, '['),
          "PUT /scenario HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200000\r\n\r\n" + std::string(200000, '[')}) {
      RawClient raw(SystemClock::Instance(), PortOf(address));
      raw.Send(bytes);
      raw.ShutdownWrite();
      EXPECT_NE(raw.ReadToEnd().end, StreamEnd::kSilence) << bytes.substr(0, 80);
    }
    // A client that goes away in the middle.
    for (const char* bytes : {"GET / HT", "POST /v1/sandboxes HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc"}) {
      RawClient raw(SystemClock::Instance(), PortOf(address));
      raw.Send(bytes);
      raw.CloseRst();
    }
    EXPECT_EQ(HttpConnection(SystemClock::Instance(), address).Exchange(HttpRequest("GET", "/health")).status, 200);
  }
}

}  // namespace
}  // namespace opensandbox::emulator
