// Faults of connections and dead sandboxes, seen over raw sockets.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/conformance/fault_wire.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::HasSubstr;

bool IsRefused(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool refused =
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 && errno == ECONNREFUSED;
  close(fd);
  return refused;
}

TEST(ListenerFaultWireTest, ConnectionsAreRefusedUntilTheWindowEnds) {
  FaultWire wire(R"("listener": [{"id": "down", "do": "refuse", "window": {"until": "5s"}}])");
  EXPECT_TRUE(IsRefused(wire.port()));
  wire.clock().SleepFor(4999ms);
  EXPECT_TRUE(IsRefused(wire.port()));
  wire.clock().SleepFor(2ms);
  wire.ExpectHealthy();
  EXPECT_EQ(wire.Judge().faults_fired, 1u);
}

TEST(ListenerFaultWireTest, ALaterWindowClosesAndOpensAgain) {
  FaultWire wire(R"("listener": [{"id": "down", "do": "refuse", "window": {"from": "5s", "until": "8s"}}])");
  wire.ExpectHealthy();
  wire.clock().SleepFor(6s);
  EXPECT_TRUE(IsRefused(wire.port()));
  wire.clock().SleepFor(3s);
  wire.ExpectHealthy();
}

TEST(ListenerFaultWireTest, TheSecondConnectionIsResetBeforeAnyByte) {
  FaultWire wire(R"("listener": [{"id": "reset", "do": "reset", "nth": 2}])");
  wire.ExpectHealthy();
  RawClient second = wire.Connect();
  const Received received = second.ReadToEnd();
  EXPECT_EQ(received.bytes, "");
  EXPECT_EQ(received.end, StreamEnd::kRst);
  wire.ExpectHealthy();
}

TEST(ListenerFaultWireTest, AnAcceptedConnectionHangs) {
  FaultWire wire(R"("listener": [{"id": "hang", "do": "hang", "first": 1}])");
  const Wire got = wire.Get("/health");
  EXPECT_EQ(got.bytes, "");
  EXPECT_EQ(got.end, StreamEnd::kSilence);
  EXPECT_EQ(got.took, 1h);
  wire.ExpectHealthy();
}

TEST(ListenerFaultWireTest, AnEndpointAtWhichNobodyListens) {
  FaultWire wire(R"("sandboxes": [{"endpoint": {"refused": true}}])");
  const std::string id = wire.NewSandbox();
  const HttpAnswer endpoint = wire.client().Send("GET", "/v1/sandboxes/" + id + "/endpoints/44772");
  EXPECT_EQ(endpoint.Json()["endpoint"], "127.0.0.1:1");
  EXPECT_TRUE(IsRefused(1));
}

struct Face {
  const char* face;
  const char* name;
  int get_status;  // 0: no answer
  StreamEnd get_end;
  int ping_status;
  StreamEnd ping_end;
  const char* run_words;  // of the stream that was open when it died
  bool run_terminated;
  StreamEnd run_end;
};
void PrintTo(const Face& face, std::ostream* out) { *out << face.name; }

class DeathWireTest : public testing::TestWithParam<Face> {
 protected:
  FaultWire wire_{R"("sandboxes": [{"match": {"nth": 1}, "die": {"after": "4s", "face": ")" +
                      std::string(GetParam().face) + R"("}}])",
                  R"({"stdout": "tick", "repeat": "forever", "every": "10s"})"};
};

TEST_P(DeathWireTest, ShowsInTheApiAndInTheDaemon) {
  const std::string id = wire_.NewSandbox();
  const std::string execd = wire_.client().ExecdPath(id);
  EXPECT_EQ(wire_.client().Send("GET", "/v1/sandboxes/" + id).status, 200);
  wire_.clock().SleepFor(4s);
  const Wire get = wire_.Get("/v1/sandboxes/" + id);
  EXPECT_EQ(get.status(), GetParam().get_status);
  EXPECT_EQ(get.end, GetParam().get_end);
  const Wire ping = wire_.Get(execd + "/ping");
  EXPECT_EQ(ping.status(), GetParam().ping_status);
  EXPECT_EQ(ping.end, GetParam().ping_end);
  wire_.ExpectHealthy();
  EXPECT_NE(wire_.NewSandbox(), "");
}

TEST_P(DeathWireTest, EndsTheStreamThatRuns) {
  const std::string id = wire_.NewSandbox();
  RawClient raw = wire_.Connect();
  raw.Send(HttpRequest("POST", wire_.client().ExecdPath(id) + "/code",
                       R"({"code":"x","context":{"language":"python"}})", "Connection: close\r\n"));
  // Ten more seconds tell silence from an end.
  const Received received = raw.ReadToEnd(10s);
  EXPECT_EQ(EventWords(received.bytes), GetParam().run_words);
  EXPECT_EQ(received.bytes.find("\r\n0\r\n\r\n") != std::string::npos, GetParam().run_terminated);
  EXPECT_EQ(received.end, GetParam().run_end);
  wire_.ExpectHealthy();
}

INSTANTIATE_TEST_SUITE_P(All, DeathWireTest,
                         testing::Values(Face{"404", "NotFound", 404, StreamEnd::kFin, 404, StreamEnd::kFin,
                                              "init ping tick ping", false, StreamEnd::kFin},
                                         Face{"410", "Gone", 410, StreamEnd::kFin, 410, StreamEnd::kFin,
                                              "init ping tick ping", false, StreamEnd::kFin},
                                         Face{"502", "BadGateway", 502, StreamEnd::kFin, 502, StreamEnd::kFin,
                                              "init ping tick ping", false, StreamEnd::kFin},
                                         Face{"rst", "Rst", 0, StreamEnd::kRst, 0, StreamEnd::kRst,
                                              "init ping tick ping", false, StreamEnd::kRst},
                                         Face{"blackHole", "BlackHole", 0, StreamEnd::kSilence, 0, StreamEnd::kSilence,
                                              "init ping tick ping", false, StreamEnd::kSilence},
                                         Face{"cleanEnd", "CleanEnd", 404, StreamEnd::kFin, 200, StreamEnd::kFin,
                                              "init ping tick ping", true, StreamEnd::kFin}),
                         [](const auto& test) { return test.param.name; });

TEST(QuotaWireTest, ASecondStreamOfASandboxIsRefused) {
  FaultWire wire(R"("faults": [{"id": "one", "on": "runCode", "over": {"streams": 1}, "respond": {"status": 429}}])",
                 R"({"stdout": "tick", "repeat": "forever", "every": "1s"})");
  const std::string id = wire.NewSandbox();
  {
    HttpConnection first = wire.client().BeginRun(id, "tick");
    EXPECT_EQ(wire.Run(id).status(), 429);
    const std::string other = wire.NewSandbox();
    wire.client().BeginRun(other, "tick");  // each sandbox has its own
  }
  wire.clock().SleepFor(2s);  // the server has seen that the first client is gone
  wire.client().BeginRun(id, "init");
}

TEST(DeathMomentWireTest, AHealthyPingHidesADeadSandbox) {
  FaultWire wire(R"("sandboxes": [{"die": {"after": "4s", "face": "healthyPing"}}])",
                 R"({"stdout": "tick", "repeat": "forever", "every": "1s"})");
  const std::string id = wire.NewSandbox();
  const std::string execd = wire.client().ExecdPath(id);
  HttpConnection run = wire.client().BeginRun(id, "tick");
  run.raw().ReadUntil("ping");  // 3 s
  run.raw().ReadUntil("ping");  // 6 s
  EXPECT_EQ(wire.client().Send("GET", "/v1/sandboxes/" + id).Json()["status"]["state"], "Running");
  EXPECT_EQ(wire.Get(execd + "/ping").status(), 200);
  // The stream says nothing but pings from now on.
  EXPECT_THAT(run.raw().ReadUntil("ping"), testing::Not(HasSubstr("tick")));
  EXPECT_EQ(wire.client().Send("DELETE", "/v1/sandboxes/" + id).status, 204);
  EXPECT_EQ(wire.Judge().ledger.deleted, 1u);
}

TEST(DeathMomentWireTest, TheNthRequestFindsItDead) {
  FaultWire wire(R"("sandboxes": [{"die": {"on": "getSandbox", "nth": 2}}])");
  const std::string id = wire.NewSandbox();
  EXPECT_EQ(wire.Get("/v1/sandboxes/" + id).status(), 200);
  EXPECT_EQ(wire.Get("/v1/sandboxes/" + id).status(), 404);
  const Verdict verdict = wire.Judge();
  EXPECT_EQ(verdict.ledger.died, 1u);
  EXPECT_TRUE(verdict.leaks.empty());  // nobody is billed for it
}

TEST(DeathMomentWireTest, AfterSoManyEventsOfARun) {
  FaultWire wire(R"("sandboxes": [{"die": {"afterEvents": 4, "face": "rst"}}])");
  const Wire got = wire.Run();
  EXPECT_EQ(EventWords(got.body), "init ping one two");
  EXPECT_EQ(got.end, StreamEnd::kRst);
}

}  // namespace
}  // namespace opensandbox::emulator
