#include "emulator/scenario/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Texts(const std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  for (const Problem& problem : problems) texts.push_back(problem.Text());
  return texts;
}

std::shared_ptr<const Scenario> Load(std::string_view text) {
  LoadedScenario loaded = ParseScenario(text, "f");
  EXPECT_THAT(Texts(loaded.problems), IsEmpty());
  return loaded.scenario != nullptr ? loaded.scenario : std::make_shared<Scenario>();
}

TEST(LoaderTest, TheSmallestScenarioHasTheDefaults) {
  const auto scenario = Load(R"({"schemaVersion": 1, "name": "small"})");
  EXPECT_EQ(scenario->name, "small");
  EXPECT_EQ(scenario->file, "f");
  EXPECT_EQ(scenario->clock, ClockMode::kVirtual);
  EXPECT_EQ(scenario->profile, Profile::kDocker);
  EXPECT_FALSE(scenario->seed);
  EXPECT_TRUE(scenario->expect.all_faults_consumed);
}

TEST(LoaderTest, EveryFieldArrives) {
  const auto scenario = Load(R"({
    "$schema": "x", "schemaVersion": 1, "name": "whole", "description": "d", "tags": ["a", "b"],
    "seed": 18446744073, "clock": "scale=2.5", "profile": "docker",
    "sandboxes": [
      {"id": "slow", "match": {"image": "*:slow", "metadata": {"team": "x"}, "nth": 2},
       "lifecycle": [{"state": "Pending", "for": "2s", "jitter": "500ms", "reason": "r", "message": "m"},
                     {"state": "Failed", "weight": 3, "polls": 4},
                     {"state": "Odd", "weight": 1, "until": "pauseSandbox"},
                     {"state": "Running"}],
       "endpoint": {"readyAfter": "1s", "readyAfterPolls": 3, "omitEndpoint": true}},
      {"endpoint": {"never": true}}],
    "execution": [
      {"id": "loop", "match": {"operation": "runCode", "code": "/while/", "language": "py*", "image": "i", "nth": 2},
       "events": [
         {"stdout": "a", "repeat": 3, "every": "50ms", "delay": "1s"},
         {"stderr": {"fill": "xy", "bytes": "1KiB", "lines": 2, "oneEvent": true}},
         {"executionCount": 7}, {"result": {"text": "4", "text/html": "<b>"}}, {"status": "error"},
         {"error": {"name": "N", "value": "V", "traceback": ["t", ""]}},
         {"bareError": {"code": "C", "message": "M"}}, {"raw": "{\n"},
         {"end": "silenceWithPings", "delay": "2s"}]},
      {"events": [{"stdout": "y", "repeat": "forever"}]}],
    "faults": [
      {"id": "f", "on": "createSandbox", "match": {"header": {"X-A": "1*"}, "body": "/b/", "image": "i"}, "nth": 2,
       "window": {"from": "1s", "until": "2m"}, "commit": true,
       "respond": {"status": 503, "headers": {"A": "1", "B": ["2", "3"]}, "body": {"z": 1, "a": [null, "x"]},
                   "contentType": "text/html", "retryAfter": "2s"},
       "append": "tail", "delay": "1s", "delayBody": "2s", "mayStayUnused": true,
       "cut": {"atByte": 7, "how": "silence"}},
      {"id": "g", "on": "*", "probability": 0.5, "cut": {"atEvent": 3, "inCharacter": true, "how": "noTerminator"}},
      {"id": "h", "on": "deleteSandbox", "every": 2, "commit": false, "cut": {"at": "beforeHeaders", "how": "rst"}},
      {"id": "i", "on": "runCode", "first": 9, "ending": "clean"}],
    "clientSettings": {"provider": "opensandbox", "lostCreate": "adopt", "retryAttemptsMax": 2},
    "client": [
      {"create": {"image": "i", "timeout": "5m", "readyTimeout": "1m", "metadata": {"a": "b"}}},
      {"run": {"code": "c", "language": "bash", "deadline": "1s", "idleTimeout": "2s", "outputBytesMax": "1MiB"},
       "cancelAfter": "1s",
       "expect": {"error": "timeout", "message": "*m*", "timeoutClock": "idle", "outcome": "unknown",
                  "cleanup": "notNeeded", "state": "s", "reason": "r", "stateMessage": "sm", "httpStatus": 500,
                  "attempts": 3, "namesSandbox": true, "stdout": {"exact": "/o/"}, "stderr": "", "stdoutBytes": 10,
                  "executionError": "E", "truncated": true, "within": "3s", "atLeast": "1s"}},
      {"delete": {}, "expect": {"deleted": false}}, {"delete": {"id": "x"}}, {"wait": "5s"},
      {"ephemeral": {"create": {"image": "j"}, "run": {"code": "e"}}}],
    "expect": {"live": 1, "created": 2, "deleted": 3, "expired": 4, "leaks": 5, "faults": "any",
               "requests": [{"operation": "createSandbox", "atLeast": 1, "atMost": 2, "within": "5s"},
                            {"operation": "ping", "count": 0}],
               "order": ["createSandbox", "deleteSandbox"], "within": "1h"}
  })");

  EXPECT_EQ(scenario->description, "d");
  EXPECT_THAT(scenario->tags, ElementsAre("a", "b"));
  EXPECT_EQ(scenario->seed, 18446744073u);
  EXPECT_EQ(scenario->clock, ClockMode::kScaled);
  EXPECT_EQ(scenario->clock_scale, 2.5);

  ASSERT_EQ(scenario->sandboxes.size(), 2u);
  const SandboxRule& slow = scenario->sandboxes[0];
  EXPECT_EQ(slow.id, "slow");
  EXPECT_EQ(slow.match.image->text, "*:slow");
  EXPECT_EQ(slow.match.metadata.at("team").text, "x");
  EXPECT_EQ(slow.match.nth, 2);
  ASSERT_EQ(slow.lifecycle.size(), 4u);
  EXPECT_EQ(slow.lifecycle[0].stage,
            (Stage{.state = "Pending", .reason = "r", .message = "m", .duration = 2s, .polls = {}, .until = {}}));
  EXPECT_EQ(slow.lifecycle[0].jitter, 500ms);
  EXPECT_EQ(slow.lifecycle[1].weight, 3);
  EXPECT_EQ(slow.lifecycle[1].stage.polls, 4);
  EXPECT_EQ(slow.lifecycle[2].stage.until, "pauseSandbox");
  EXPECT_EQ(slow.endpoint.ready_after, 1s);
  EXPECT_EQ(slow.endpoint.ready_after_polls, 3);
  EXPECT_TRUE(slow.endpoint.omit_endpoint);
  EXPECT_EQ(scenario->sandboxes[1].id, "sandboxes/1");
  EXPECT_TRUE(scenario->sandboxes[1].endpoint.never);

  ASSERT_EQ(scenario->execution.size(), 2u);
  const ExecutionRule& loop = scenario->execution[0];
  EXPECT_EQ(loop.operation, "runCode");
  EXPECT_NE(loop.code->regex, nullptr);
  EXPECT_EQ(loop.language->text, "py*");
  EXPECT_EQ(loop.image->text, "i");
  EXPECT_EQ(loop.nth, 2);
  EXPECT_EQ(loop.script.rule_id, "loop");
  EXPECT_EQ(loop.script.end, ExecutionEnd::kSilenceWithPings);
  EXPECT_EQ(loop.script.delay_before_end, 2s);
  const auto& events = loop.script.events;
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(events[0].text, "a");
  EXPECT_EQ(events[0].repeat, 3u);
  EXPECT_EQ(events[0].every, 50ms);
  EXPECT_EQ(events[0].delay, 1s);
  EXPECT_EQ(events[1].kind, ExecutionEvent::Kind::kStderr);
  EXPECT_EQ(events[1].generated->unit, "xy");
  EXPECT_EQ(events[1].generated->bytes, 1024u);
  EXPECT_EQ(events[1].generated->lines, 2u);
  EXPECT_TRUE(events[1].generated->one_event);
  EXPECT_EQ(events[2].execution_count, 7);
  EXPECT_THAT(events[3].results, ElementsAre(testing::Pair("text", "4"), testing::Pair("text/html", "<b>")));
  EXPECT_EQ(events[4].text, "error");
  EXPECT_EQ(events[5].error_name, "N");
  EXPECT_THAT(events[5].traceback, ElementsAre("t", ""));
  EXPECT_EQ(events[6].error_value, "M");
  EXPECT_EQ(events[7].kind, ExecutionEvent::Kind::kRaw);
  EXPECT_EQ(scenario->execution[1].script.events[0].repeat, 0u);

  ASSERT_EQ(scenario->faults.size(), 4u);
  const FaultRule& f = scenario->faults[0];
  EXPECT_EQ(f.on.operation, "createSandbox");
  EXPECT_EQ(f.on.header.at("X-A").text, "1*");
  EXPECT_EQ(f.on.body->text, "/b/");
  EXPECT_EQ(f.on.sandbox_image->text, "i");
  EXPECT_EQ(f.on.nth, 2u);
  EXPECT_EQ(f.on.from, 1s);
  EXPECT_EQ(f.on.until, 2min);
  EXPECT_EQ(f.commit, Commit::kYes);
  EXPECT_EQ(f.respond->status, 503);
  EXPECT_THAT(f.respond->headers, ElementsAre(Header{"A", "1"}, Header{"B", "2"}, Header{"B", "3"}));
  EXPECT_EQ(f.respond->body, "{\"z\":1,\"a\":[null,\"x\"]}");
  EXPECT_EQ(f.respond->content_type, "text/html");
  EXPECT_EQ(f.respond->retry_after, "2");
  EXPECT_EQ(f.append, "tail");
  ASSERT_TRUE(f.delay && f.delay_body);
  EXPECT_EQ(f.delay->from, 1s);
  EXPECT_EQ(f.delay_body->from, 2s);
  EXPECT_TRUE(f.may_stay_unused);
  EXPECT_EQ(f.cut->at_byte, 7u);
  EXPECT_EQ(f.cut->how, Ending::kSilence);
  const FaultRule& g = scenario->faults[1];
  EXPECT_EQ(g.on.probability, 0.5);
  EXPECT_EQ(g.cut->at_event, 3u);
  EXPECT_TRUE(g.cut->in_character);
  EXPECT_EQ(g.cut->how, Ending::kNoTerminator);
  const FaultRule& h = scenario->faults[2];
  EXPECT_EQ(h.on.every, 2u);
  EXPECT_EQ(h.commit, Commit::kNo);
  EXPECT_TRUE(h.cut->before_headers);
  EXPECT_EQ(scenario->faults[3].on.first, 9u);
  EXPECT_EQ(scenario->faults[3].ending, Ending::kClean);

  EXPECT_EQ(scenario->client_settings.lost_create, "adopt");
  EXPECT_EQ(scenario->client_settings.retry_attempts_max, 2);
  ASSERT_EQ(scenario->client.size(), 6u);
  const auto& create = std::get<CreateStep>(scenario->client[0].action);
  EXPECT_EQ(create.image, "i");
  EXPECT_EQ(create.timeout, 5min);
  EXPECT_EQ(create.ready_timeout, 1min);
  EXPECT_EQ(create.metadata.at("a"), "b");
  const auto& run = std::get<RunStep>(scenario->client[1].action);
  EXPECT_EQ(run.code, "c");
  EXPECT_EQ(run.language, "bash");
  EXPECT_EQ(run.deadline, 1s);
  EXPECT_EQ(run.idle_timeout, 2s);
  EXPECT_EQ(run.output_bytes_max, 1u << 20);
  EXPECT_EQ(scenario->client[1].cancel_after, 1s);
  const StepExpectation& expect = scenario->client[1].expect;
  EXPECT_EQ(expect.error, "timeout");
  EXPECT_EQ(expect.message->text, "*m*");
  EXPECT_EQ(expect.timeout_clock, "idle");
  EXPECT_EQ(expect.outcome, "unknown");
  EXPECT_EQ(expect.cleanup, "notNeeded");
  EXPECT_EQ(expect.state, "s");
  EXPECT_EQ(expect.reason, "r");
  EXPECT_EQ(expect.state_message, "sm");
  EXPECT_EQ(expect.http_status, 500);
  EXPECT_EQ(expect.attempts, 3);
  EXPECT_TRUE(expect.names_sandbox);
  EXPECT_EQ(expect.stdout_text->text, "/o/");
  EXPECT_TRUE(expect.stdout_text->exact);
  EXPECT_EQ(expect.stderr_text->text, "");
  EXPECT_EQ(expect.stdout_bytes, 10u);
  EXPECT_EQ(expect.execution_error, "E");
  EXPECT_EQ(expect.truncated, true);
  EXPECT_EQ(expect.within, 3s);
  EXPECT_EQ(expect.at_least, 1s);
  EXPECT_EQ(scenario->client[2].expect.deleted, false);
  EXPECT_EQ(std::get<DeleteStep>(scenario->client[3].action).id, "x");
  EXPECT_EQ(std::get<WaitStep>(scenario->client[4].action).duration, 5s);
  EXPECT_EQ(std::get<EphemeralStep>(scenario->client[5].action).create.image, "j");
  EXPECT_EQ(std::get<EphemeralStep>(scenario->client[5].action).run.code, "e");

  const Expectations& all = scenario->expect;
  EXPECT_EQ(all.live, 1u);
  EXPECT_EQ(all.created, 2u);
  EXPECT_EQ(all.deleted, 3u);
  EXPECT_EQ(all.expired, 4u);
  EXPECT_EQ(all.leaks, 5u);
  EXPECT_FALSE(all.all_faults_consumed);
  ASSERT_EQ(all.requests.size(), 2u);
  EXPECT_EQ(all.requests[0].at_least, 1u);
  EXPECT_EQ(all.requests[0].at_most, 2u);
  EXPECT_EQ(all.requests[0].within, 5s);
  EXPECT_EQ(all.requests[1].count, 0u);
  EXPECT_THAT(all.order, ElementsAre("createSandbox", "deleteSandbox"));
  EXPECT_EQ(all.within, 1h);
}

TEST(LoaderTest, ARespondWithoutCommitHasNoEffectAndEveryOtherFaultHas) {
  const auto scenario = Load(R"({"schemaVersion": 1, "name": "n", "faults": [
    {"id": "a", "on": "createSandbox", "respond": {"status": 500}},
    {"id": "b", "on": "createSandbox", "delay": "1s"}]})");
  EXPECT_EQ(scenario->faults[0].commit, Commit::kNo);
  EXPECT_EQ(scenario->faults[1].commit, Commit::kYes);
}

TEST(LoaderTest, TenMistakesGiveTenMessages) {
  const LoadedScenario loaded = ParseScenario(R"({
  "schemaVersion": 2,
  "name": "Ten Mistakes",
  "sandboxes": [{"lifecycle": [{"state": "Pending", "fro": "2s"},
                               {"state": "Running", "for": "2 s"}]}],
  "execution": [{"events": [{"stdout": 5}]}],
  "faults": [
    {"id": "a", "on": "createSandboxes", "delay": "1s"},
    {"id": "b", "on": "runCode", "nth": 1, "first": 2, "delay": "1s"},
    {"id": "b", "on": "runCode", "delay": "1s"},
    {"id": "c", "on": "runCode"}],
  "expect": {"live": 0, "live": 1}
})",
                                              "ten.scenario.json");
  EXPECT_EQ(loaded.scenario, nullptr);
  EXPECT_THAT(
      Texts(loaded.problems),
      ElementsAre(
          "ten.scenario.json:2: /schemaVersion: found the number 2, expected the number 1",
          "ten.scenario.json:3: /name: found \"Ten Mistakes\", expected a name of lower-case letters, digits and "
          "hyphens",
          "ten.scenario.json:4: /sandboxes/0/lifecycle/0/fro: found the unknown field \"fro\", expected a field of "
          "this "
          "object (did you mean \"for\"?)",
          "ten.scenario.json:5: /sandboxes/0/lifecycle/1/for: found \"2 s\", expected a duration such as \"250ms\", "
          "\"1.5s\", \"5m\" or \"24h\"",
          "ten.scenario.json:6: /execution/0/events/0/stdout: found the number 5, expected text",
          "ten.scenario.json:8: /faults/0/on: found \"createSandboxes\", expected createSandbox, listSandboxes, "
          "getSandbox, deleteSandbox, pauseSandbox, resumeSandbox, renewExpiration, patchSandboxMetadata, getEndpoint, "
          "health, serverProxy, ping, runCode, interruptCode, createContext, listContexts, deleteContexts, getContext, "
          "deleteContext, getPolicy or * (did you mean \"createSandbox\"?)",
          "ten.scenario.json:9: /faults/1/first: found \"first\" beside \"nth\", expected only one of nth, first, "
          "every "
          "or probability",
          "ten.scenario.json:10: /faults/2/id: found the id \"b\" a second time, expected each rule to have its own",
          "ten.scenario.json:11: /faults/3: found a fault that does nothing, expected \"respond\", \"auth\", "
          "\"patch\", "
          "\"append\", \"headers\", \"beforeStatusLine\", \"drop\", \"duplicate\", \"reorder\", \"insert\", "
          "\"coalesce\", "
          "\"split\", \"ending\", \"cut\", \"stall\", \"throttle\", \"delay\" or \"delayBody\"",
          "ten.scenario.json:12: /expect/live: found \"live\" a second time (first on line 12), expected each name "
          "once"));
}

TEST(LoaderTest, TwentyMistakesGiveTwentyMessages) {
  const LoadedScenario loaded = ParseScenario(R"({
  "schemaVersion": "1",
  "nmae": "twenty",
  "tags": ["a", "a"],
  "seed": -1,
  "clock": "virtuell",
  "profile": "kubernetes",
  "sandboxes": [
    {"match": {"image": "/(/"}, "lifecycle": [{"state": ""}]},
    {"match": {"nth": 0}, "endpoint": {}}],
  "execution": [
    {"events": []},
    {"events": [{"stdout": {"bytes": "10 MB"}},
                {"end": "complet"},
                {"stdout": "late"}]}],
  "faults": [
    {"id": "a", "on": "runCode", "cut": {"how": "rst"}},
    {"id": "b", "on": "runCode", "probability": 1.5, "delay": "1s"}],
  "client": [{"run": {"code": "x"}, "expect": {"deleted": true}}],
  "expect": {"requests": [{"operation": "runcode", "count": 1}]}
})",
                                              "f");
  const std::vector<std::string> texts = Texts(loaded.problems);
  EXPECT_EQ(texts.size(), 20u) << testing::PrintToString(texts);
}

TEST(LoaderTest, ABrokenValueIsReportedOnce) {
  const LoadedScenario loaded = ParseScenario("{\"schemaVersion\": 1, \"name\": x, \"expect\": {\"within\": 5s}}", "f");
  EXPECT_THAT(Texts(loaded.problems),
              ElementsAre(HasSubstr("/name: column 30: found the bare word x"), HasSubstr("/expect/within: column")));
}

TEST(LoaderTest, WhatIsNoObjectAtAllIsOneMistake) {
  EXPECT_THAT(Texts(ParseScenario("[]", "f").problems), ElementsAre("f:1: /: found an array, expected an object"));
  EXPECT_THAT(Texts(ParseScenario("null", "f").problems), ElementsAre("f:1: /: found null, expected an object"));
}

class LoaderFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("loader-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(LoaderFileTest, AFileIsReadAndItsNameIsTheScenarios) {
  const std::string good = Write("good.scenario.json", R"({"schemaVersion": 1, "name": "good"})");
  const LoadedScenario loaded = LoadScenarioFile(good);
  ASSERT_NE(loaded.scenario, nullptr);
  EXPECT_EQ(loaded.scenario->file, good);
  const std::string other = Write("other.scenario.json", R"({"schemaVersion": 1, "name": "good"})");
  EXPECT_THAT(Texts(LoadScenarioFile(other).problems),
              ElementsAre(other + ":1: /name: found \"good\", expected the file's name, \"other\""));
  EXPECT_NE(LoadScenarioFile(Write("any.json", R"({"schemaVersion": 1, "name": "good"})")).scenario, nullptr);
}

TEST_F(LoaderFileTest, WhatCannotBeReadIsOneClearLine) {
  EXPECT_THAT(Texts(LoadScenarioFile(Path("none")).problems), ElementsAre(Path("none") + ": no such file"));
  EXPECT_THAT(Texts(LoadScenarioFile(folder_.string()).problems),
              ElementsAre(folder_.string() + ": found a folder, expected a file"));
  const std::string big = Write("big.json", std::string((4 << 20) + 1, ' '));
  EXPECT_THAT(Texts(LoadScenarioFile(big).problems),
              ElementsAre(big + ": found more than 4 MiB, expected a smaller file"));
  if (geteuid() == 0) return;  // root reads everything
  const std::string closed = Write("closed.json", "{}");
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  EXPECT_THAT(Texts(LoadScenarioFile(closed).problems), ElementsAre(closed + ": can't be read: Permission denied"));
}

TEST_F(LoaderFileTest, FoldersAreSearchedAndEachFileFoundOnce) {
  const std::string b = Write("x/b.scenario.json", "{}");
  const std::string a = Write("a.scenario.json", "{}");
  Write("x/readme.md", "");
  const FoundScenarios found = FindScenarioFiles({folder_.string(), b, Path("x"), Path("x/../a.scenario.json")});
  EXPECT_THAT(found.files, ElementsAre(a, b));
  EXPECT_THAT(Texts(found.problems), IsEmpty());
}

TEST_F(LoaderFileTest, PathsWithoutScenariosAreProblems) {
  Write("empty/readme.md", "");
  const FoundScenarios found = FindScenarioFiles({Path("none"), Path("empty")});
  EXPECT_THAT(Texts(found.problems), ElementsAre(Path("none") + ": no such file or folder",
                                                 Path("empty") + ": found no file whose name ends in .scenario.json"));
}

TEST_F(LoaderFileTest, AFolderThatCannotBeReadIsAProblem) {
  if (geteuid() == 0) return;  // root reads every folder
  std::filesystem::create_directories(folder_ / "shut");
  std::filesystem::permissions(folder_ / "shut", std::filesystem::perms::none);
  const FoundScenarios found = FindScenarioFiles({Path("shut")});
  std::filesystem::permissions(folder_ / "shut", std::filesystem::perms::owner_all);
  EXPECT_THAT(Texts(found.problems), ElementsAre(Path("shut") + ": can't be read: Permission denied"));
}

}  // namespace
}  // namespace opensandbox::emulator
