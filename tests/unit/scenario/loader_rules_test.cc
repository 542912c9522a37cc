// What each part of a scenario file must not say. One row, one mistake, one message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {
namespace {

struct RuleCase {
  const char* name;
  const char* fields;   // of the scenario, besides schemaVersion and name
  const char* problem;  // "POINTER: message"
};
void PrintTo(const RuleCase& row, std::ostream* out) { *out << row.name; }

class LoaderRuleTest : public testing::TestWithParam<RuleCase> {};

TEST_P(LoaderRuleTest, IsTheOneMistakeNamed) {
  const std::string text = R"({"schemaVersion": 1, "name": "n", )" + std::string(GetParam().fields) + "}";
  const LoadedScenario loaded = ParseScenario(text, "f");
  EXPECT_EQ(loaded.scenario, nullptr);
  std::vector<std::string> found;
  for (const Problem& problem : loaded.problems) found.push_back(problem.pointer + ": " + problem.message);
  EXPECT_THAT(found, testing::ElementsAre(GetParam().problem));
}

constexpr RuleCase kTopRules[] = {
    {"DescriptionNoText", R"("description": 5)", "/description: found the number 5, expected text"},
    {"TagBlank", R"("tags": [" "])", "/tags/0: found \" \", expected text that is not blank"},
    {"TagsNoArray", R"("tags": "a")", "/tags: found \"a\", expected an array"},
    {"SeedFraction", R"("seed": 1.5)", "/seed: found the number 1.5, expected a whole number of at least 0"},
    {"SeedText", R"("seed": "7")", "/seed: found \"7\", expected a whole number of at least 0"},
    {"ClockUnknown", R"("clock": "reel")",
     "/clock: found \"reel\", expected virtual, real or scale=10 (did you mean \"real\"?)"},
    {"ClockScaleZero", R"("clock": "scale=0")",
     "/clock: found \"scale=0\", expected a factor above 0 and at most 1000000, such as \"scale=10\""},
    {"ProfileLater", R"("profile": "spec")", "/profile: found \"spec\", expected docker"},
    {"UnknownFieldFar", R"("zzzzzzzz": 1)",
     "/zzzzzzzz: found the unknown field \"zzzzzzzz\", expected $schema, schemaVersion, name, description, tags, seed, "
     "clock, profile, sandboxes, execution, faults, listener, matrix, except, clientSettings, client or expect"},
    {"SettingsWithoutSteps", R"("clientSettings": {"lostCreate": "adopt"})",
     "/clientSettings: found settings without \"client\", expected the steps that use them"},
};

constexpr RuleCase kSandboxRules[] = {
    {"NoEffect", R"("sandboxes": [{"match": {"image": "x"}}])",
     "/sandboxes/0: found a rule that changes nothing, expected \"lifecycle\", \"endpoint\" or \"die\""},
    {"BehindACatchAll", R"("sandboxes": [{"endpoint": {"never": true}}, {"endpoint": {"never": true}}])",
     "/sandboxes/1: found a rule that is never reached, expected none behind \"sandboxes/0\", which fits every "
     "sandbox"},
    {"LifecycleEmpty", R"("sandboxes": [{"lifecycle": []}])",
     "/sandboxes/0/lifecycle: found an empty array, expected at least one item"},
    {"StageWithoutState", R"("sandboxes": [{"lifecycle": [{"for": "1s"}]}])",
     "/sandboxes/0/lifecycle/0: found no field \"state\", expected it here"},
    {"StageUnreachable", R"("sandboxes": [{"lifecycle": [{"state": "Pending"}, {"state": "Running"}]}])",
     "/sandboxes/0/lifecycle/1: found a stage that is never reached, expected the one before it to have \"for\", "
     "\"polls\" or \"until\""},
    {"GroupUnreachable",
     R"("seed": 1, "sandboxes": [{"lifecycle": [{"state": "A", "weight": 1}, {"state": "B", "weight": 1},
        {"state": "C"}]}])",
     "/sandboxes/0/lifecycle/2: found a stage that is never reached, expected the one before it to have \"for\", "
     "\"polls\" or \"until\""},
    {"WeightWithoutSeed", R"("sandboxes": [{"lifecycle": [{"state": "A", "weight": 1}]}])",
     "/sandboxes/0/lifecycle/0/weight: found chance without a seed, expected the scenario to have a \"seed\""},
    {"WeightZero", R"("seed": 1, "sandboxes": [{"lifecycle": [{"state": "A", "weight": 0}]}])",
     "/sandboxes/0/lifecycle/0/weight: found the number 0, expected a whole number from 1 to 1000000"},
    {"JitterWithoutSeed", R"("sandboxes": [{"lifecycle": [{"state": "A", "for": "2s", "jitter": "1s"}]}])",
     "/sandboxes/0/lifecycle/0/jitter: found chance without a seed, expected the scenario to have a \"seed\""},
    {"JitterWithoutFor", R"("seed": 1, "sandboxes": [{"lifecycle": [{"state": "A", "jitter": "1s"}]}])",
     "/sandboxes/0/lifecycle/0/jitter: found \"jitter\" without \"for\", expected the duration that it varies"},
    {"JitterTooLong", R"("seed": 1, "sandboxes": [{"lifecycle": [{"state": "A", "for": "1s", "jitter": "2s"}]}])",
     "/sandboxes/0/lifecycle/0/jitter: found a jitter longer than the duration itself, expected at most \"for\""},
    {"DurationNumber", R"("sandboxes": [{"lifecycle": [{"state": "A", "for": 5}]}])",
     "/sandboxes/0/lifecycle/0/for: found the number 5, expected a duration such as \"250ms\", \"1.5s\", \"5m\" or "
     "\"24h\""},
    {"DurationHuge", R"("sandboxes": [{"lifecycle": [{"state": "A", "for": "4000d"}]}])",
     "/sandboxes/0/lifecycle/0/for: found \"4000d\", expected a duration of at most ten years"},
    {"UntilNoSandboxOperation", R"("sandboxes": [{"lifecycle": [{"state": "A", "until": "pauseSandboxes"}]}])",
     "/sandboxes/0/lifecycle/0/until: found \"pauseSandboxes\", expected getSandbox, deleteSandbox, pauseSandbox, "
     "resumeSandbox, renewExpiration, patchSandboxMetadata, getEndpoint, serverProxy, ping, runCode, interruptCode, "
     "createContext, listContexts, deleteContexts, getContext, deleteContext or getPolicy (did you mean "
     "\"pauseSandbox\"?)"},
    {"PollsZero", R"("sandboxes": [{"lifecycle": [{"state": "A", "polls": 0}]}])",
     "/sandboxes/0/lifecycle/0/polls: found the number 0, expected a whole number from 1 to 1000000000"},
    {"EndpointEmpty", R"("sandboxes": [{"endpoint": {}}])",
     "/sandboxes/0/endpoint: found an endpoint without any field, expected it to say what is special"},
    {"EndpointNeverAndLater", R"("sandboxes": [{"endpoint": {"never": true, "readyAfter": "1s"}}])",
     "/sandboxes/0/endpoint/readyAfter: found \"readyAfter\" beside \"never\", expected only one of them"},
    {"BadRegex", R"("sandboxes": [{"match": {"image": "/[/"}, "endpoint": {"never": true}}])",
     "/sandboxes/0/match/image: found \"/[/\", expected a regular expression: a '[' without its ']' at character 2"},
    {"PatternNumber", R"("sandboxes": [{"match": {"metadata": {"a": 1}}, "endpoint": {"never": true}}])",
     "/sandboxes/0/match/metadata/a: found the number 1, expected text: \"/a regular expression/\", a glob with * or "
     "?, "
     "an exact value, or {\"exact\": ...}"},
    {"IdWithBlanks", R"("sandboxes": [{"id": "my rule", "endpoint": {"never": true}}])",
     "/sandboxes/0/id: found \"my rule\", expected an id of lower-case letters, digits and hyphens"},
    {"IdOfAnotherPart",
     R"("sandboxes": [{"id": "a", "endpoint": {"never": true}}], "execution": [{"id": "a", "events": [{"stdout": "x"}]}])",
     "/execution/0/id: found the id \"a\" a second time, expected each rule to have its own"},
};

constexpr RuleCase kExecutionRules[] = {
    {"NoEvents", R"("execution": [{"match": {"code": "x"}}])",
     "/execution/0: found no field \"events\", expected it here"},
    {"OtherOperation", R"("execution": [{"match": {"operation": "ping"}, "events": [{"stdout": "x"}]}])",
     "/execution/0/match/operation: found \"ping\", expected runCode"},
    {"EmptyEvent", R"("execution": [{"events": [{"delay": "1s"}]}])",
     "/execution/0/events/0: found an event that says nothing, expected stdout, stderr, result, error, executionCount, "
     "status, bareError, raw or end"},
    {"TwoEventsInOne", R"("execution": [{"events": [{"stdout": "a", "stderr": "b"}]}])",
     "/execution/0/events/0/stderr: found \"stderr\" beside \"stdout\", expected only one of stdout, stderr, result, "
     "error, executionCount, status, bareError, raw or end"},
    {"BehindTheEnd", R"("execution": [{"events": [{"end": "complete"}, {"stdout": "a"}]}])",
     "/execution/0/events/1: found an event that is never reached, expected none behind the end or an endless event"},
    {"BehindForever", R"("execution": [{"events": [{"stdout": "a", "repeat": "forever"}, {"end": "complete"}]}])",
     "/execution/0/events/1: found an event that is never reached, expected none behind the end or an endless event"},
    {"RepeatWord", R"("execution": [{"events": [{"stdout": "a", "repeat": "for ever"}]}])",
     "/execution/0/events/0/repeat: found \"for ever\", expected forever (did you mean \"forever\"?) or a number of "
     "times"},
    {"RepeatZero", R"("execution": [{"events": [{"stdout": "a", "repeat": 0}]}])",
     "/execution/0/events/0/repeat: found the number 0, expected a whole number of at least 1"},
    {"EveryAlone", R"("execution": [{"events": [{"stdout": "a", "every": "1s"}]}])",
     "/execution/0/events/0/every: found \"every\" without \"repeat\", expected both"},
    {"EndRepeated", R"("execution": [{"events": [{"end": "silence", "repeat": 2}]}])",
     "/execution/0/events/0/repeat: found \"repeat\" at the end of the run, expected it at an event"},
    {"EndUnknown", R"("execution": [{"events": [{"end": "silent"}]}])",
     "/execution/0/events/0/end: found \"silent\", expected complete, noCompletion, silence or silenceWithPings (did "
     "you "
     "mean \"silence\"?)"},
    {"SizeMalformed", R"("execution": [{"events": [{"stdout": {"bytes": "10 MB"}}]}])",
     "/execution/0/events/0/stdout/bytes: found \"10 MB\", expected a number of bytes such as 512, \"10KiB\" or "
     "\"1.5MiB\", at least 1"},
    {"SizeMissing", R"("execution": [{"events": [{"stdout": {"fill": "x"}}]}])",
     "/execution/0/events/0/stdout: found no field \"bytes\", expected it here"},
    {"MoreLinesThanBytes", R"("execution": [{"events": [{"stdout": {"bytes": 4, "lines": 5}}]}])",
     "/execution/0/events/0/stdout/lines: found 5 lines for 4 bytes, expected no more lines than bytes"},
    {"FillWithNewline", R"("execution": [{"events": [{"stdout": {"bytes": 4, "fill": "a\n"}}]}])",
     "/execution/0/events/0/stdout/fill: found \"a\\n\", expected 1 to 4096 bytes without control characters (line "
     "ends: "
     "\"lines\")"},
    {"FillCut", R"("execution": [{"events": [{"stdout": {"bytes": 5, "fill": "é"}}]}])",
     "/execution/0/events/0/stdout/fill: found characters of several bytes that the size would cut, expected \"bytes\" "
     "to hold \"é\" a whole number of times in each line"},
    {"ResultNotText", R"("execution": [{"events": [{"result": {"text": 4}}]}])",
     "/execution/0/events/0/result/text: found the number 4, expected text"},
    {"ErrorWithoutName", R"("execution": [{"events": [{"error": {"value": "x"}}]}])",
     "/execution/0/events/0/error: found no field \"name\", expected it here"},
    {"TracebackNumber", R"("execution": [{"events": [{"error": {"name": "x", "traceback": [1]}}]}])",
     "/execution/0/events/0/error/traceback/0: found the number 1, expected text"},
    {"RawEmpty", R"("execution": [{"events": [{"raw": ""}]}])",
     "/execution/0/events/0/raw: found an empty string, expected the bytes to send"},
};

constexpr RuleCase kFaultRules[] = {
    {"NoId", R"("faults": [{"on": "ping", "delay": "1s"}])", "/faults/0: found no field \"id\", expected it here"},
    {"NthZero", R"("faults": [{"id": "a", "on": "ping", "nth": 0, "delay": "1s"}])",
     "/faults/0/nth: found the number 0, expected a whole number of at least 1"},
    {"EveryAndNth", R"("faults": [{"id": "a", "on": "ping", "nth": 1, "every": 2, "delay": "1s"}])",
     "/faults/0/every: found \"every\" beside \"nth\", expected only one of nth, first, every or probability"},
    {"ProbabilityZero", R"("seed": 1, "faults": [{"id": "a", "on": "ping", "probability": 0, "delay": "1s"}])",
     "/faults/0/probability: found the number 0, expected a number above 0 and at most 1"},
    {"ProbabilityAboveOne", R"("seed": 1, "faults": [{"id": "a", "on": "ping", "probability": 1.01, "delay": "1s"}])",
     "/faults/0/probability: found the number 1.01, expected a number above 0 and at most 1"},
    {"ProbabilityWithoutSeed", R"("faults": [{"id": "a", "on": "ping", "probability": 0.5, "delay": "1s"}])",
     "/faults/0/probability: found chance without a seed, expected the scenario to have a \"seed\""},
    {"WindowEmpty", R"("faults": [{"id": "a", "on": "ping", "window": {}, "delay": "1s"}])",
     "/faults/0/window: found a window without limits, expected \"from\" or \"until\""},
    {"WindowBackwards",
     R"("faults": [{"id": "a", "on": "ping", "window": {"from": "2s", "until": "2s"}, "delay": "1s"}])",
     "/faults/0/window/until: found a window that ends before it begins, expected \"until\" after \"from\""},
    {"CommitFalseAlone", R"("faults": [{"id": "a", "on": "createSandbox", "commit": false, "delay": "1s"}])",
     "/faults/0/commit: found a request without effect and without a reply, expected \"respond\" or a cut \"at\": "
     "\"beforeHeaders\""},
    {"CommitFalseCutLater",
     R"("faults": [{"id": "a", "on": "createSandbox", "commit": false, "cut": {"at": "afterHeaders"}}])",
     "/faults/0/commit: found a request without effect and without a reply, expected \"respond\" or a cut \"at\": "
     "\"beforeHeaders\""},
    {"StatusTooSmall", R"("faults": [{"id": "a", "on": "ping", "respond": {"status": 199}}])",
     "/faults/0/respond/status: found the number 199, expected a whole number from 200 to 599"},
    {"RetryAfterFraction", R"("faults": [{"id": "a", "on": "ping", "respond": {"retryAfter": "1.5s"}}])",
     "/faults/0/respond/retryAfter: found a part of a second, expected whole seconds (anything else: \"headers\")"},
    {"HeaderName", R"("faults": [{"id": "a", "on": "ping", "respond": {"headers": {"a b": "c"}}}])",
     "/faults/0/respond/headers/a b: found \"a b\", expected a header name"},
    {"HeaderInjection", R"("faults": [{"id": "a", "on": "ping", "respond": {"headers": {"a": "b\r\nc: d"}}}])",
     "/faults/0/respond/headers/a: found \"b\\r\\nc: d\", expected one line of text or an array of such"},
    {"CutWithoutPlace", R"("faults": [{"id": "a", "on": "ping", "cut": {"how": "rst"}}])",
     "/faults/0/cut: found a cut without a place, expected \"at\", \"atByte\" or \"atEvent\""},
    {"CutTwoPlaces", R"("faults": [{"id": "a", "on": "ping", "cut": {"at": "afterHeaders", "atByte": 1}}])",
     "/faults/0/cut/atByte: found \"atByte\" beside \"at\", expected only one place"},
    {"CutInCharacterOfNothing",
     R"("faults": [{"id": "a", "on": "runCode", "cut": {"atByte": 1, "inCharacter": true}}])",
     "/faults/0/cut/inCharacter: found \"inCharacter\" without \"atEvent\", expected the events before it"},
    {"CutInCharacterAtByte",
     R"("faults": [{"id": "a", "on": "runCode", "cut": {"atEvent": 1, "atByte": 1, "inCharacter": true}}])",
     "/faults/0/cut/inCharacter: found \"inCharacter\" beside \"atByte\", expected only one of them"},
    {"CutHow", R"("faults": [{"id": "a", "on": "ping", "cut": {"atByte": 1, "how": "reset"}}])",
     "/faults/0/cut/how: found \"reset\", expected fin, rst, silence or noTerminator (did you mean \"rst\"?)"},
    {"CutNoTerminatorBeforeHeaders",
     R"("faults": [{"id": "a", "on": "ping", "cut": {"at": "beforeHeaders", "how": "noTerminator"}}])",
     "/faults/0/cut/how: found noTerminator before the headers, expected fin, rst or silence"},
    {"EndingBesideCut", R"("faults": [{"id": "a", "on": "ping", "cut": {"atByte": 1}, "ending": "rst"}])",
     "/faults/0/ending: found \"ending\" beside \"cut\", expected only one of them (a cut comes before the end)"},
    {"EndingComplete", R"("faults": [{"id": "a", "on": "ping", "ending": "complete"}])",
     "/faults/0/ending: found \"complete\", expected clean, noTerminator, fin, rst or silence"},
    {"RespondCutAtEvent", R"("faults": [{"id": "a", "on": "runCode", "respond": {}, "cut": {"atEvent": 1}}])",
     "/faults/0/cut: found a cut at an event of a reply that \"respond\" makes, expected \"at\" or \"atByte\""},
    {"AppendBehindNothing", R"("faults": [{"id": "a", "on": "ping", "cut": {"at": "beforeHeaders"}, "append": "x"}])",
     "/faults/0/append: found \"append\" behind a cut before the headers, expected it gone"},
    {"AppendEmpty", R"("faults": [{"id": "a", "on": "ping", "append": ""}])",
     "/faults/0/append: found an empty string, expected the text to append"},
};

constexpr RuleCase kClientRules[] = {
    {"EmptyStep", R"("client": [{"expect": {}}])",
     "/client/0: found a step that does nothing, expected create, run, delete, wait or ephemeral"},
    {"TwoActions", R"("client": [{"create": {}, "wait": "1s"}])",
     "/client/0/wait: found \"wait\" beside \"create\", expected only one of create, run, delete, wait or ephemeral"},
    {"RunBeforeCreate", R"("client": [{"run": {"code": "x"}}, {"create": {}}])",
     "/client/0: found a step that needs a sandbox, expected a create that succeeds before it"},
    {"DeleteAfterFailure", R"("client": [{"create": {}, "expect": {"error": "api"}}, {"delete": {}}])",
     "/client/1: found a step that needs a sandbox, expected a create that succeeds before it"},
    {"TimeoutFraction", R"("client": [{"create": {"timeout": "1.5s"}}])",
     "/client/0/create/timeout: found a part of a second, expected whole seconds"},
    {"EphemeralWithoutRun", R"("client": [{"ephemeral": {}}])",
     "/client/0/ephemeral: found no field \"run\", expected it here"},
    {"ErrorUnknown", R"("client": [{"create": {}, "expect": {"error": "terminal"}}])",
     "/client/0/expect/error: found \"terminal\", expected invalidArgument, transport, timeout, cancelled, api, "
     "protocol, "
     "terminalState, outputLimit, streamTruncated, outcomeUnknown, sandboxGone or notImplemented (did you mean "
     "\"terminalState\"?)"},
    {"DetailsWithoutError", R"("client": [{"create": {}, "expect": {"httpStatus": 500}}])",
     "/client/0/expect/httpStatus: found \"httpStatus\" without \"error\", expected the kind of error that has it"},
    {"ClockOfNoTimeout", R"("client": [{"create": {}, "expect": {"error": "api", "timeoutClock": "idle"}}])",
     "/client/0/expect/timeoutClock: found \"timeoutClock\" of an error that is no timeout"},
    {"OutputOfACreate", R"("client": [{"create": {}, "expect": {"stdout": "x"}}])",
     "/client/0/expect/stdout: found \"stdout\" at a step that runs no code"},
    {"DeletedOfACreate", R"("client": [{"create": {}, "expect": {"deleted": true}}])",
     "/client/0/expect/deleted: found \"deleted\" at a step that is no delete"},
    {"DeletedAndError", R"("client": [{"delete": {"id": "x"}, "expect": {"deleted": true, "error": "api"}}])",
     "/client/0/expect/deleted: found \"deleted\" beside \"error\", expected one of them"},
    {"WithinBelowAtLeast", R"("client": [{"create": {}, "expect": {"within": "1s", "atLeast": "2s"}}])",
     "/client/0/expect/within: found \"within\" shorter than \"atLeast\", expected it longer"},
    {"AttemptsZero", R"("clientSettings": {"retryAttemptsMax": 0}, "client": [{"wait": "1s"}])",
     "/clientSettings/retryAttemptsMax: found the number 0, expected a whole number from 1 to 1000"},
};

constexpr RuleCase kExpectRules[] = {
    {"UnknownOperation", R"("expect": {"requests": [{"operation": "createSandbx", "count": 1}]})",
     "/expect/requests/0/operation: found \"createSandbx\", expected createSandbox, listSandboxes, getSandbox, "
     "deleteSandbox, pauseSandbox, resumeSandbox, renewExpiration, patchSandboxMetadata, getEndpoint, health, "
     "serverProxy, ping, runCode, interruptCode, createContext, listContexts, deleteContexts, getContext, "
     "deleteContext "
     "or getPolicy (did you mean \"createSandbox\"?)"},
    {"CannotFail", R"("expect": {"requests": [{"operation": "ping"}]})",
     "/expect/requests/0: found an expectation that cannot fail, expected \"count\", \"atLeast\", \"atMost\" or "
     "\"within\""},
    {"CountAndAtMost", R"("expect": {"requests": [{"operation": "ping", "count": 1, "atMost": 2}]})",
     "/expect/requests/0/atMost: found \"atMost\" beside \"count\", expected only one of them"},
    {"AtMostBelowAtLeast", R"("expect": {"requests": [{"operation": "ping", "atLeast": 3, "atMost": 2}]})",
     "/expect/requests/0/atMost: found \"atMost\" below \"atLeast\", expected it above"},
    {"NoneWithin", R"("expect": {"requests": [{"operation": "ping", "count": 0, "within": "1s"}]})",
     "/expect/requests/0/within: found \"within\" of a request that is not to come, expected it gone"},
    {"OrderUnknown", R"("expect": {"order": ["ping", "pong"]})",
     "/expect/order/1: found \"pong\", expected createSandbox, listSandboxes, getSandbox, deleteSandbox, pauseSandbox, "
     "resumeSandbox, renewExpiration, patchSandboxMetadata, getEndpoint, health, serverProxy, ping, runCode, "
     "interruptCode, createContext, listContexts, deleteContexts, getContext, deleteContext or getPolicy (did you mean "
     "\"ping\"?)"},
    {"LiveWithoutLeaks", R"("expect": {"live": 1})",
     "/expect/live: found sandboxes that stay alive but no \"leaks\", expected \"leaks\" to count them too"},
    {"FewerLeaksThanLive", R"("expect": {"live": 2, "leaks": 1})",
     "/expect/leaks: found fewer leaks than sandboxes alive, expected at least as many (each one alive is a leak)"},
    {"FaultsWord", R"("expect": {"faults": "all"})", "/expect/faults: found \"all\", expected allConsumed or any"},
};

std::string Name(const testing::TestParamInfo<RuleCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Top, LoaderRuleTest, testing::ValuesIn(kTopRules), Name);
INSTANTIATE_TEST_SUITE_P(Sandboxes, LoaderRuleTest, testing::ValuesIn(kSandboxRules), Name);
INSTANTIATE_TEST_SUITE_P(Execution, LoaderRuleTest, testing::ValuesIn(kExecutionRules), Name);
INSTANTIATE_TEST_SUITE_P(Faults, LoaderRuleTest, testing::ValuesIn(kFaultRules), Name);
INSTANTIATE_TEST_SUITE_P(Client, LoaderRuleTest, testing::ValuesIn(kClientRules), Name);
INSTANTIATE_TEST_SUITE_P(Expect, LoaderRuleTest, testing::ValuesIn(kExpectRules), Name);

TEST(LoaderRuleTest, WeightedStagesAreReachedIfOneAlternativeHasAWayOut) {
  const LoadedScenario loaded = ParseScenario(R"({"schemaVersion": 1, "name": "n", "seed": 1, "sandboxes": [
      {"lifecycle": [{"state": "A", "weight": 1, "for": "1s"}, {"state": "B", "weight": 1}, {"state": "C"}]}]})",
                                              "f");
  EXPECT_THAT(loaded.problems, testing::IsEmpty());
}

}  // namespace
}  // namespace opensandbox::emulator
