// Faults of replies, seen over raw sockets: the bytes that came, how the connection ended, and that the server lives
// on.
#include "tests/conformance/fault_wire.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ReplyFaultWireTest, ABodyMayHoldAnyBytes) {
  FaultWire wire(R"("faults": [{"id": "a", "on": "health", "respond": {"bodyBase64": "//4AfwE="}}])");
  const Wire got = wire.Get("/health");
  EXPECT_EQ(got.body, std::string("\xff\xfe\x00\x7f\x01", 5));
  EXPECT_THAT(got.head, HasSubstr("content-length: 5\r\n"));
  EXPECT_EQ(got.end, StreamEnd::kFin);
  wire.ExpectHealthy();
}

TEST(ReplyFaultWireTest, AGeneratedBodyHasItsExactSize) {
  FaultWire wire(
      R"("faults": [{"id": "a", "on": "health", "respond": {"status": 500, "bodyGenerated": {"fill": "ab", "bytes": "1MiB"}}}])");
  const Wire got = wire.Get("/health");
  EXPECT_EQ(got.status(), 500);
  EXPECT_EQ(got.body.size(), std::size_t{1} << 20);
  EXPECT_THAT(got.body, StartsWith("abab"));
  EXPECT_THAT(got.head, HasSubstr("content-length: 1048576\r\n"));
  wire.ExpectHealthy();
}

TEST(ReplyFaultWireTest, AWrongContentLengthEndsShort) {
  FaultWire wire(R"("faults": [{"id": "a", "on": "health", "headers": {"content-length": "999"}, "ending": "fin"}])");
  const Wire got = wire.Get("/health");
  EXPECT_THAT(got.head, HasSubstr("content-length: 999\r\n"));
  EXPECT_LT(got.body.size(), 100u);
  EXPECT_EQ(got.end, StreamEnd::kFin);
  wire.ExpectHealthy();
}

TEST(ReplyFaultWireTest, HeadersOfTheProvidersOwnReplyAreChangedAndTakenAway) {
  FaultWire wire(
      R"("faults": [{"id": "a", "on": "health", "headers": {"Content-Type": "text/html", "server": null, "X-A": ["1", "2"]}}])");
  const Wire got = wire.Get("/health");
  EXPECT_EQ(got.status(), 200);
  EXPECT_THAT(got.head, HasSubstr("Content-Type: text/html\r\n"));
  EXPECT_THAT(got.head, Not(HasSubstr("application/json")));
  EXPECT_THAT(got.head, Not(HasSubstr("server:")));
  EXPECT_THAT(got.head, HasSubstr("X-A: 1\r\nX-A: 2\r\n"));
}

TEST(ReplyFaultWireTest, APatchChangesMembersOfTheProvidersOwnReply) {
  FaultWire wire(
      R"("faults": [{"id": "a", "on": "getSandbox", "patch": {"expiresAt": null, "status": {"state": "Odd"}}}])");
  const std::string id = wire.NewSandbox();
  const Wire got = wire.Get("/v1/sandboxes/" + id);
  EXPECT_THAT(got.body, Not(HasSubstr("expiresAt")));
  EXPECT_THAT(got.body, HasSubstr(R"("state":"Odd")"));
  EXPECT_THAT(got.body, HasSubstr(R"("reason":)"));
  EXPECT_THAT(got.head, HasSubstr("content-length: " + std::to_string(got.body.size()) + "\r\n"));
}

TEST(ReplyFaultWireTest, GarbageComesBeforeTheStatusLine) {
  FaultWire wire(R"("faults": [{"id": "a", "on": "health", "beforeStatusLine": "SSH-2.0-x\r\n"}])");
  EXPECT_THAT(wire.Get("/health").bytes, StartsWith("SSH-2.0-x\r\nHTTP/1.1 200 OK\r\n"));
  wire.ExpectHealthy();
}

TEST(ReplyFaultWireTest, AuthFailuresHaveTheProvidersOwnWords) {
  FaultWire wire(R"("faults": [{"id": "missing", "on": "getSandbox", "nth": 1, "auth": "missingKey"},
                               {"id": "invalid", "on": "getSandbox", "nth": 2, "auth": "invalidKey"}])");
  const std::string id = wire.NewSandbox();
  const Wire missing = wire.Get("/v1/sandboxes/" + id);
  const Wire invalid = wire.Get("/v1/sandboxes/" + id);
  EXPECT_EQ(missing.status(), 401);
  EXPECT_THAT(missing.body, HasSubstr("MISSING_API_KEY"));
  EXPECT_EQ(invalid.status(), 401);
  EXPECT_THAT(invalid.body, HasSubstr("INVALID_API_KEY"));
  EXPECT_EQ(wire.Get("/v1/sandboxes/" + id).status(), 200);
}

TEST(ReplyFaultWireTest, AnAuthFailureTakesNoEffect) {
  FaultWire wire(R"("faults": [{"id": "a", "on": "createSandbox", "auth": "invalidKey"}])");
  EXPECT_EQ(wire.Create().status(), 401);
  EXPECT_EQ(wire.Judge().ledger.created, 0u);
}

TEST(ReplyFaultWireTest, ALateCreateTakesEffectAfterItsAnswer) {
  FaultWire wire(R"("faults": [{"id": "late", "on": "createSandbox", "commit": "late", "commitAfter": "3s",
                                "respond": {"status": 504}}])");
  EXPECT_EQ(wire.Create().status(), 504);
  const auto live = [&] { return wire.client().Send("GET", "/v1/sandboxes").Json()["items"].size(); };
  EXPECT_EQ(live(), 0u);
  wire.clock().SleepFor(2999ms);
  EXPECT_EQ(live(), 0u);
  wire.clock().SleepFor(1ms);
  EXPECT_EQ(live(), 1u);
  EXPECT_EQ(wire.Judge().ledger.created, 1u);
}

TEST(ReplyFaultWireTest, ALateDeleteEndsARunningStreamAtItsInstant) {
  FaultWire wire(R"("faults": [{"id": "late", "on": "deleteSandbox", "commit": "late", "commitAfter": "4s",
                                "respond": {"status": 500}}])",
                 R"({"stdout": "tick", "repeat": "forever", "every": "3s"})");
  const std::string id = wire.NewSandbox();
  HttpConnection run = wire.client().BeginRun(id, "tick");
  const TimePoint before = wire.clock().Now();
  EXPECT_EQ(wire.Send("DELETE", "/v1/sandboxes/" + id).status(), 500);
  EXPECT_EQ(wire.client().Send("GET", "/v1/sandboxes/" + id).status, 200);
  EXPECT_EQ(run.raw().ReadToEnd().end, StreamEnd::kFin);
  EXPECT_EQ(wire.clock().Now() - before, 4s);
  EXPECT_EQ(wire.client().Send("GET", "/v1/sandboxes/" + id).status, 404);
  EXPECT_EQ(wire.Judge().ledger.deleted, 1u);
}

TEST(ReplyFaultWireTest, ARateLimitRefusesWhatIsBeyondAndSaysWhenItIsOver) {
  FaultWire wire(R"("faults": [{"id": "limit", "on": "health", "over": {"requests": 2, "per": "10s"},
                                "respond": {"status": 429, "retryAfter": "reset"}}])");
  EXPECT_EQ(wire.Get("/health").status(), 200);
  wire.clock().SleepFor(4s);
  EXPECT_EQ(wire.Get("/health").status(), 200);
  const Wire refused = wire.Get("/health");
  EXPECT_EQ(refused.status(), 429);
  EXPECT_THAT(refused.head, HasSubstr("retry-after: 6\r\n"));
  wire.clock().SleepFor(5999ms);
  EXPECT_EQ(wire.Get("/health").status(), 429);
  wire.clock().SleepFor(1ms);
  EXPECT_EQ(wire.Get("/health").status(), 200);  // the refused ones did not count
}

TEST(ReplyFaultWireTest, AQuotaOfSandboxesRefusesTheOneTooMany) {
  FaultWire wire(
      R"("faults": [{"id": "quota", "on": "createSandbox", "over": {"live": 2}, "respond": {"status": 403}}])");
  const std::string first = wire.NewSandbox();
  EXPECT_EQ(wire.Create().status(), 202);
  EXPECT_EQ(wire.Create().status(), 403);
  EXPECT_EQ(wire.Send("DELETE", "/v1/sandboxes/" + first).status(), 204);
  EXPECT_EQ(wire.Create().status(), 202);
}

TEST(ReplyFaultWireTest, AMissingHeaderIsAsked) {
  FaultWire wire(R"("sandboxes": [{"endpoint": {"headers": {"X-One": "1", "X-Two": "2"}}}],
    "faults": [{"id": "needed", "on": "ping", "match": {"withoutHeader": ["X-One", "X-Two"]}, "respond": {"status": 401}}])");
  const std::string id = wire.NewSandbox();
  const Wire endpoint = wire.Get("/v1/sandboxes/" + id + "/endpoints/44772");
  EXPECT_THAT(endpoint.body, HasSubstr(R"("headers":{"X-One":"1","X-Two":"2"})"));
  const std::string ping = wire.client().ExecdPath(id) + "/ping";
  EXPECT_EQ(wire.Send("GET", ping, "", "Connection: close\r\nX-One: 1\r\n").status(), 401);
  EXPECT_EQ(wire.Send("GET", ping, "", "Connection: close\r\nX-One: 1\r\nX-Two: 2\r\n").status(), 200);
}

TEST(ReplyFaultWireTest, DelaysAreDrawnFromTheirDistributionAndRepeat) {
  const std::string fields = R"("faults": [
    {"id": "uniform", "on": "health", "delay": {"from": "1s", "to": "3s"}},
    {"id": "lognormal", "on": "getSandbox", "delayBody": {"median": "1s", "sigma": 0.5, "max": "2s"}}])";
  std::vector<Duration> first;
  for (int round = 0; round < 2; ++round) {
    FaultWire wire(fields);
    const std::string id = wire.NewSandbox();
    std::vector<Duration> times;
    for (int i = 0; i < 10; ++i) {
      const Wire uniform = wire.Get("/health");
      EXPECT_GE(uniform.took, 1s);
      EXPECT_LE(uniform.took, 3s);
      times.push_back(uniform.took);
      const Wire lognormal = wire.Get("/v1/sandboxes/" + id);
      EXPECT_GT(lognormal.took, 100ms);
      EXPECT_LE(lognormal.took, 2s);
      times.push_back(lognormal.took);
    }
    if (round == 0) {
      first = times;
    } else {
      EXPECT_EQ(times, first);
    }
    EXPECT_NE(times[0], times[2]);
    EXPECT_NE(times[1], times[3]);
  }
}

TEST(ReplyFaultWireTest, AThrottledBodyComesInPiecesOverTime) {
  FaultWire wire(
      R"("faults": [{"id": "slow", "on": "health", "respond": {"body": "0123456789"}, "throttle": {"bytes": 3, "every": "2s"}}])");
  const Wire got = wire.Get("/health");
  EXPECT_EQ(got.body, "0123456789");
  EXPECT_EQ(got.took, 6s);  // 3 + 3 + 3 + 1
  EXPECT_EQ(got.end, StreamEnd::kFin);
}

TEST(ReplyFaultWireTest, AStalledBodyGoesOn) {
  FaultWire wire(
      R"("faults": [{"id": "rest", "on": "health", "respond": {"body": "0123456789"}, "stall": {"atByte": 4, "for": "90s"}}])");
  RawClient raw = wire.Connect();
  raw.Send(HttpRequest("GET", "/health", "", "Connection: close\r\n"));
  raw.ReadUntil("0123");
  const TimePoint before = wire.clock().Now();
  EXPECT_EQ(raw.ReadToEnd().bytes, "456789");
  EXPECT_EQ(wire.clock().Now() - before, 90s);
}

}  // namespace
}  // namespace opensandbox::emulator
