// The rest of what a scenario can say, seen over raw sockets: states, which requests a fault is for, plain replies, the
// ends of streams, and output that is made while it is sent.
#include "tests/conformance/fault_wire.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::EndsWith;
using testing::HasSubstr;

std::string StateOf(FaultWire& wire, const std::string& id) {
  const auto json = wire.client().Send("GET", "/v1/sandboxes/" + id).Json();
  return json.contains("status") ? json["status"].value("state", "") : "gone";
}

TEST(StateWireTest, StatesFollowTimePollsAndRequests) {
  FaultWire wire(R"("sandboxes": [{"lifecycle": [{"state": "Pending", "for": "2s"}, {"state": "Warming", "polls": 2},
      {"state": "Running", "until": "pauseSandbox"}, {"state": "Failed", "reason": "Odd", "message": "why not"}]}])");
  const std::string id = wire.NewSandbox();
  EXPECT_EQ(StateOf(wire, id), "Pending");
  wire.clock().SleepFor(1999ms);
  EXPECT_EQ(StateOf(wire, id), "Pending");
  wire.clock().SleepFor(1ms);
  EXPECT_EQ(StateOf(wire, id), "Warming");  // a word that no API knows
  EXPECT_EQ(StateOf(wire, id), "Warming");
  EXPECT_EQ(StateOf(wire, id), "Running");
  wire.client().Send("POST", "/v1/sandboxes/" + id + "/pause");
  const Wire failed = wire.Get("/v1/sandboxes/" + id);
  EXPECT_THAT(failed.body, HasSubstr(R"("state":"Failed","reason":"Odd","message":"why not")"));
}

TEST(StateWireTest, TransitionsThatNoProviderAllows) {
  FaultWire wire(R"("sandboxes": [{"lifecycle": [{"state": "Terminated", "polls": 1}, {"state": "Running"}]}])");
  const std::string id = wire.NewSandbox();
  EXPECT_EQ(StateOf(wire, id), "Terminated");
  EXPECT_EQ(StateOf(wire, id), "Running");
}

TEST(StateWireTest, WeightsAndJitterAreDrawnFromTheSeed) {
  const std::string fields = R"("sandboxes": [{"lifecycle": [{"state": "Pending", "for": "5s", "jitter": "4s"},
      {"state": "Failed", "weight": 1}, {"state": "Running", "weight": 1}]}])";
  std::string first;
  for (int round = 0; round < 2; ++round) {
    FaultWire wire(fields);
    std::vector<std::string> ids;
    for (int i = 0; i < 12; ++i) ids.push_back(wire.NewSandbox());
    std::string states;
    for (const Duration pause : {4s, 2s, 4s}) {
      wire.clock().SleepFor(pause);
      for (const std::string& id : ids) states += StateOf(wire, id)[0];
    }
    EXPECT_THAT(states, HasSubstr("P"));
    EXPECT_THAT(states.substr(24), testing::Not(HasSubstr("P")));
    EXPECT_THAT(states, HasSubstr("F"));
    EXPECT_THAT(states, HasSubstr("R"));
    if (round == 0) {
      first = states;
    } else {
      EXPECT_EQ(states, first);
    }
  }
}

// The statuses of so many GETs of /health, one each second: 5 for 500, 2 for 200.
std::string Statuses(const std::string& trigger, int count) {
  FaultWire wire(R"("faults": [{"id": "a", "on": "health", )" + trigger + R"(, "respond": {"status": 500}}])");
  std::string statuses;
  for (int i = 0; i < count; ++i) {
    statuses += std::to_string(wire.Get("/health").status() / 100);
    wire.clock().SleepFor(1s);
  }
  return statuses;
}

TEST(TriggerWireTest, OccurrencesAndWindows) {
  EXPECT_EQ(Statuses(R"("nth": 2)", 4), "2522");
  EXPECT_EQ(Statuses(R"("first": 2)", 4), "5522");
  EXPECT_EQ(Statuses(R"("every": 2)", 4), "2525");
  EXPECT_EQ(Statuses(R"("window": {"from": "1s", "until": "3s"})", 5), "25522");
}

TEST(TriggerWireTest, ProbabilityIsDrawnFromTheSeed) {
  const std::string statuses = Statuses(R"("probability": 0.5)", 20);
  EXPECT_THAT(statuses, HasSubstr("5"));
  EXPECT_THAT(statuses, HasSubstr("2"));
  EXPECT_EQ(Statuses(R"("probability": 0.5)", 20), statuses);
}

TEST(TriggerWireTest, HeaderAndBodyMustFit) {
  FaultWire wire(
      R"("faults": [{"id": "a", "on": "createSandbox", "match": {"header": {"X-Team": "red"}, "body": "/secret/"}, "respond": {"status": 403}}])");
  const std::string secret = R"({"image":{"uri":"secret"},"timeout":60,"entrypoint":["sleep"],"resourceLimits":{}})";
  const auto status = [&](const std::string& body, const std::string& field) {
    return wire.Send("POST", "/v1/sandboxes", body, "Connection: close\r\n" + field).status();
  };
  EXPECT_EQ(status(secret, "X-Team: red\r\n"), 403);
  EXPECT_EQ(status(secret, "X-Team: blue\r\n"), 202);
  EXPECT_EQ(status(secret, ""), 202);
  EXPECT_EQ(status(kCreateBody, "X-Team: red\r\n"), 202);
}

TEST(RespondWireTest, AnyStatusHeaderAndBody) {
  FaultWire wire(R"("faults": [
    {"id": "html", "on": "health", "nth": 1, "respond": {"status": 599, "contentType": "text/html", "body": "<h1>"}},
    {"id": "broken", "on": "health", "nth": 2, "respond": {"body": "{\"code\":"}},
    {"id": "type", "on": "health", "nth": 3, "respond": {"body": [1], "headers": {"X-A": "b"}}},
    {"id": "empty", "on": "health", "nth": 4, "respond": {"body": "", "contentType": ""}}])");
  const Wire html = wire.Get("/health");
  EXPECT_EQ(html.status(), 599);
  EXPECT_EQ(html.body, "<h1>");
  EXPECT_THAT(html.head, HasSubstr("content-type: text/html\r\n"));
  EXPECT_EQ(wire.Get("/health").body, "{\"code\":");
  const Wire type = wire.Get("/health");
  EXPECT_EQ(type.body, "[1]");
  EXPECT_THAT(type.head, HasSubstr("X-A: b\r\n"));
  const Wire empty = wire.Get("/health");
  EXPECT_EQ(empty.body, "");
  EXPECT_THAT(empty.head, testing::Not(HasSubstr("content-type")));
  EXPECT_EQ(wire.Get("/health").status(), 200);
}

TEST(CommitWireTest, TrueAndFalseWithTheSameReply) {
  FaultWire wire(
      R"("faults": [{"id": "yes", "on": "createSandbox", "nth": 1, "commit": true, "respond": {"status": 503}},
                               {"id": "no", "on": "createSandbox", "nth": 2, "commit": false, "respond": {"status": 503}}])");
  EXPECT_EQ(wire.Create().status(), 503);
  EXPECT_EQ(wire.Create().status(), 503);
  EXPECT_EQ(wire.client().Send("GET", "/v1/sandboxes").Json()["items"].size(), 1u);
}

struct EndCase {
  const char* name;
  const char* end;     // an event
  const char* ending;  // of a fault, or ""
  const char* words;
  bool terminated;
  StreamEnd how;
};
void PrintTo(const EndCase& row, std::ostream* out) { *out << row.name; }

class StreamEndWireTest : public testing::TestWithParam<EndCase> {};

TEST_P(StreamEndWireTest, EndsSo) {
  const std::string ending = GetParam().ending;
  FaultWire wire(
      ending.empty() ? R"("tags": [])" : R"("faults": [{"id": "a", "on": "runCode", "ending": ")" + ending + "\"}]",
      R"({"stdout": "one"}, {"end": ")" + std::string(GetParam().end) + "\"}");
  const std::string id = wire.NewSandbox();
  RawClient raw = wire.Connect();
  raw.Send(HttpRequest("POST", wire.client().ExecdPath(id) + "/code", R"({"code":"x","context":{"language":"python"}})",
                       "Connection: close\r\n"));
  const Received received = raw.ReadToEnd(10s);
  EXPECT_THAT(EventWords(received.bytes), testing::StartsWith(GetParam().words));
  EXPECT_EQ(received.bytes.size() > 5 && received.bytes.substr(received.bytes.size() - 5) == "0\r\n\r\n",
            GetParam().terminated);
  EXPECT_EQ(received.end, GetParam().how);
  wire.ExpectHealthy();
}

INSTANTIATE_TEST_SUITE_P(
    All, StreamEndWireTest,
    testing::Values(EndCase{"Complete", "complete", "", "init ping one execution_complete", true, StreamEnd::kFin},
                    EndCase{"NoCompletion", "noCompletion", "", "init ping one", true, StreamEnd::kFin},
                    EndCase{"Silence", "silence", "", "init ping one", false, StreamEnd::kSilence},
                    EndCase{"NoTerminator", "complete", "noTerminator", "init ping one execution_complete", false,
                            StreamEnd::kFin},
                    EndCase{"Fin", "complete", "fin", "init ping one execution_complete", false, StreamEnd::kFin},
                    EndCase{"Rst", "complete", "rst", "init ping one execution_complete", false, StreamEnd::kRst},
                    EndCase{"SilenceBehindTheEnd", "complete", "silence", "init ping one execution_complete", false,
                            StreamEnd::kSilence}),
    [](const auto& test) { return test.param.name; });

TEST(ReplyEndWireTest, SilenceWithPingsIsHeard) {
  FaultWire wire(R"("tags": [])", R"({"stdout": "one"}, {"end": "silenceWithPings"})");
  HttpConnection run = wire.client().BeginRun(wire.NewSandbox(), "one");
  const TimePoint before = wire.clock().Now();
  for (int i = 0; i < 3; ++i) run.raw().ReadUntil("pong");
  EXPECT_EQ(wire.clock().Now() - before, 9s);
}

TEST(ReplyEndWireTest, AnErrorObjectInAGoodStream) {
  FaultWire wire(
      R"("faults": [{"id": "a", "on": "runCode", "append": "{\"code\":\"RUNTIME_ERROR\",\"message\":\"x\"}"}])");
  const Wire got = wire.Run();
  EXPECT_EQ(got.status(), 200);
  EXPECT_TRUE(got.terminated);
  EXPECT_THAT(got.body, EndsWith(R"({"code":"RUNTIME_ERROR","message":"x"})"));
}

TEST(ReplyEndWireTest, HeadersAloneAndNothingAtAll) {
  FaultWire wire(
      R"("faults": [{"id": "nothing", "on": "health", "nth": 1, "cut": {"at": "beforeHeaders", "how": "rst"}},
      {"id": "head", "on": "health", "nth": 2, "cut": {"at": "afterHeaders", "how": "fin"}},
      {"id": "byte", "on": "health", "nth": 3, "cut": {"atByte": 3, "how": "rst"}}])");
  const Wire nothing = wire.Get("/health");
  EXPECT_EQ(nothing.bytes, "");
  EXPECT_EQ(nothing.end, StreamEnd::kRst);
  const Wire head = wire.Get("/health");
  EXPECT_THAT(head.bytes, EndsWith("\r\n\r\n"));
  EXPECT_EQ(head.end, StreamEnd::kFin);
  const Wire byte = wire.Get("/health");
  EXPECT_EQ(byte.body.size(), 3u);
  EXPECT_EQ(byte.end, StreamEnd::kRst);
  wire.ExpectHealthy();
}

TEST(ReplyEndWireTest, ACutInsideACharacter) {
  FaultWire wire(R"("faults": [{"id": "a", "on": "runCode", "cut": {"atEvent": 2, "inCharacter": true}}])",
                 R"({"stdout": "na\u00efve"})");
  const Wire got = wire.Run();
  EXPECT_THAT(got.body, EndsWith("na\xc3"));
  EXPECT_EQ(got.end, StreamEnd::kFin);
}

TEST(GeneratedOutputWireTest, HasItsExactSizeInOneLineOrMany) {
  FaultWire wire(R"("tags": [])", R"({"stdout": {"fill": "#", "bytes": "3MiB", "oneEvent": true}},
                                     {"stdout": {"fill": "@", "bytes": 1000, "lines": 10}})");
  const Wire got = wire.Run();
  EXPECT_EQ(std::count(got.body.begin(), got.body.end(), '#'), 3 << 20);
  EXPECT_EQ(std::count(got.body.begin(), got.body.end(), '@'), 990);
}

TEST(MatrixWireTest, EachCaseAnswersInItsOwnWay) {
  const LoadedScenario loaded = ParseScenario(
      R"({"schemaVersion": 1, "name": "m", "matrix": {"status": [418, 503], "body": [{"name": "a", "is": {"x": 1}}, "b"]},
          "except": [{"status": 503, "body": "a"}, {"status": 418, "body": "b"}],
          "faults": [{"id": "a", "on": "health", "respond": {"status": "${status}", "body": "${body}"}}]})",
      "m");
  ASSERT_EQ(loaded.cases.size(), 2u);
  std::string seen;
  for (const auto& scenario : loaded.cases) {
    const auto emulator = StartEmulator({.tenants = {{.scenario = scenario}}});
    const HttpAnswer answer = ServiceClient(SystemClock::Instance(), emulator->address()).Send("GET", "/health");
    seen += std::to_string(answer.status) + answer.body + " ";
  }
  EXPECT_EQ(seen, "418a 503b ");
}

}  // namespace
}  // namespace opensandbox::emulator
