#include "emulator/opensandbox/execd_code.h"

#include <nlohmann/json.hpp>

#include "tests/unit/opensandbox/execd_fixture.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kUuid[] = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

class ExecdCodeTest : public SandboxPortTest {
 protected:
  std::string InitOf(ReplyPlan& plan) {
    const std::vector<std::string> events = Events(Read(plan));
    EXPECT_FALSE(events.empty());
    return events.empty() ? "" : events[0].substr(5);
  }
  std::string CreateContext(const std::string& language = "python") {
    ReplyPlan plan = Send("POST", "/code/context", R"({"language":")" + language + "\"}");
    return nlohmann::json::parse(plan.body)["id"];
  }
  static std::string RunError(const std::string& message) {
    return R"({"code":"RUNTIME_ERROR","message":"error running codes )" + message + "\"}";
  }
};

TEST_F(ExecdCodeTest, BodyErrorsAreAnsweredBeforeAnythingStarts) {
  const std::string prefix = R"({"code":"INVALID_REQUEST_BODY","message":")";
  const std::string missing =
      "invalid request, validation error Key: 'RunCodeRequest.Code' Error:Field validation for 'Code' failed on the "
      "'required' tag\"}";
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "error parsing request, MAYBE invalid body format. EOF\"}"},
      {"{bad",
       "error parsing request, MAYBE invalid body format. invalid character 'b' looking for beginning of object key "
       "string\"}"},
      {"{}", missing},
      {"null", missing},
      {R"({"code":""})", missing},
      {R"({"code":1})",
       "error parsing request, MAYBE invalid body format. json: cannot unmarshal number into Go struct field "
       "RunCodeRequest.code of type string\"}"},
      {R"({"code":"1","context":{"cwd":1}})",
       "error parsing request, MAYBE invalid body format. json: cannot unmarshal number into Go struct field "
       "CodeContext.context.CodeContextRequest.cwd of type string\"}"},
  };
  for (const auto& [body, expected] : rows) {
    const ReplyPlan plan = Send("POST", "/code", body);
    EXPECT_EQ(plan.status, 400) << body;
    EXPECT_EQ(plan.body, prefix + expected);
    EXPECT_EQ(plan.source, nullptr);
    EXPECT_THAT(Names(plan.headers), ElementsAre("Content-Type", "Date", "Content-Length"));
  }
  EXPECT_EQ(tenant_.engine->unmatched_executions(), 0u);
}

TEST_F(ExecdCodeTest, UnknownLanguagesAndContextsAre500) {
  for (const char* language : {"ruby", "PYTHON", "Go"}) {
    const ReplyPlan plan = Run("1", language);
    EXPECT_EQ(plan.status, 500);
    EXPECT_EQ(plan.body, RunError(std::string("unknown language: ") + language));
  }
  const ReplyPlan plan = Send("POST", "/code", R"({"context":{"id":"zzz","language":"python"},"code":"1"})");
  EXPECT_EQ(plan.status, 500);
  EXPECT_EQ(plan.body, RunError("context not found"));
}

TEST_F(ExecdCodeTest, EachKernelLanguageHasADefaultContextThatIsKept) {
  std::vector<std::string> ids;
  for (const char* language : {"bash", "python", "java", "javascript", "typescript", "go"}) {
    ReplyPlan first = Run("1", language), second = Run("2", language);
    ids.push_back(InitOf(first));
    EXPECT_THAT(ids.back(), MatchesRegex(kUuid));
    EXPECT_EQ(Events(Read(second))[0], "init " + ids.back());
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_EQ(tenant_.execd[sandbox_->id].contexts.size(), 6u);
}

TEST_F(ExecdCodeTest, WithoutALanguageTheTextRunsAsACommandWhateverTheContextId) {
  const std::string context = CreateContext();
  for (const std::string& body :
       {std::string(R"({"code":"echo hi"})"), std::string(R"({"code":"x","context":{}})"),
        std::string(R"({"code":"x","context":{"id":"zzz"}})"), R"({"code":"x","context":{"id":")" + context + R"("}})",
        std::string(R"({"code":"x","context":{"language":"command"}})")}) {
    ReplyPlan plan = Send("POST", "/code", body);
    EXPECT_THAT(InitOf(plan), MatchesRegex("[0-9a-f]{32}")) << body;
  }
}

TEST_F(ExecdCodeTest, AKnownContextRunsInItsOwnLanguage) {
  ExecutionRule rule;
  rule.id = "python-only";
  rule.language = TextPattern{.text = "python"};
  rule.script.rule_id = rule.id;
  Load({rule});
  sandbox_ = &Create();
  const std::string context = CreateContext("python");
  ReplyPlan plan = Send("POST", "/code", R"({"code":"x","context":{"id":")" + context + R"(","language":"bash"}})");
  EXPECT_EQ(InitOf(plan), context);
  EXPECT_THAT(rules_, ElementsAre("python-only"));
}

TEST_F(ExecdCodeTest, AnUnmatchedRunIsAnEmptySuccessWithAReason) {
  ExecutionRule rule;
  rule.id = "loops";
  rule.code = TextPattern{.text = "while True: pass"};
  rule.script.rule_id = rule.id;
  Load({rule});
  sandbox_ = &Create();
  ReplyPlan plan = Run("print(1)");
  EXPECT_THAT(Events(Read(plan)), ElementsAre(StartsWith("init"), "ping pong", "execution_complete"));
  EXPECT_THAT(near_miss_, HasSubstr("loops"));
  EXPECT_THAT(rules_, IsEmpty());
  EXPECT_EQ(tenant_.engine->unmatched_executions(), 1u);
}

TEST_F(ExecdCodeTest, ABusyContextGetsInitAndTheBareObject) {
  Script({Stdout("x", 10s)});
  ReplyPlan running = Run();
  const std::string id = Events(Read(running, now_))[0].substr(5);
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  ASSERT_THAT(body.chunks, SizeIs(2));
  EXPECT_THAT(body.chunks[0].bytes, StartsWith(R"({"type":"init","text":")" + id));
  EXPECT_EQ(body.chunks[1].bytes, RunError("session is busy"));
  EXPECT_EQ(body.ending, Ending::kComplete);
  EXPECT_EQ(tenant_.engine->unmatched_executions(), 0u);
  // Other contexts and commands are free.
  ReplyPlan command = Run("x", ""), other = Run("x", "bash");
  EXPECT_NE(InitOf(command), id);
  EXPECT_NE(InitOf(other), id);
}

TEST_F(ExecdCodeTest, AFinishedRunFreesItsContextAtOnce) {
  Script({Stdout("x", 1s)});
  ReplyPlan plan = Run();
  EXPECT_EQ(Read(plan).ending, Ending::kComplete);
  ReplyPlan next = Run();
  EXPECT_THAT(Events(Read(next)), SizeIs(4));
}

TEST_F(ExecdCodeTest, ARunGoesOnWithoutItsClientAndItsContextIsBusyUntilTheScriptEnds) {
  Script({Stdout("x", 10s)});
  {
    ReplyPlan running = Run();
    Read(running, now_ + 1s);
    running.source->ClientClosed(now_);
  }
  now_ = TimePoint{} + 10s - 1ns;
  ReplyPlan busy = Run();
  EXPECT_THAT(Read(busy).Text(), HasSubstr("session is busy"));
  now_ = TimePoint{} + 10s;
  ReplyPlan free = Run();
  EXPECT_THAT(Events(Read(free)).back(), "execution_complete 10000");
}

TEST_F(ExecdCodeTest, ARunInSilenceKeepsItsContextBusyForEverUntilItIsInterrupted) {
  Script({}, ExecutionEnd::kSilence);
  { ReplyPlan running = Run(); }
  now_ += 24h;
  ReplyPlan busy = Run();
  const std::string text = Read(busy).Text();
  EXPECT_THAT(text, HasSubstr("session is busy"));
  const std::string id = tenant_.execd[sandbox_->id].contexts.begin()->first;
  EXPECT_EQ(Send("DELETE", "/code?id=" + id).status, 200);
  Script({});
  ReplyPlan free = Run();
  EXPECT_THAT(Events(Read(free)), ElementsAre("init " + id, "ping pong", "execution_complete"));
}

TEST_F(ExecdCodeTest, AnInterruptFreesTheContextBeforeTheStreamHasHeardOfIt) {
  Script({}, ExecutionEnd::kSilence);
  ReplyPlan interrupted = Run();
  const std::string id = InitOf(interrupted);
  EXPECT_EQ(Send("DELETE", "/code?id=" + id).status, 200);
  Script({}, ExecutionEnd::kSilence);
  ReplyPlan next = Run();
  EXPECT_EQ(InitOf(next), id);
  EXPECT_THAT(Read(interrupted).Text(), HasSubstr("KeyboardInterrupt"));
  // The stream that ended late has not taken the place of the new run.
  ReplyPlan third = Run();
  EXPECT_THAT(Read(third).Text(), HasSubstr("session is busy"));
}

TEST_F(ExecdCodeTest, InterruptAnswersByWhatTheIdIs) {
  const ReplyPlan none = Send("DELETE", "/code");
  EXPECT_EQ(none.status, 400);
  EXPECT_EQ(none.body, R"({"code":"MISSING_QUERY","message":"missing query parameter 'id'"})");
  EXPECT_EQ(Send("DELETE", "/code?id=").status, 400);
  const ReplyPlan unknown = Send("DELETE", "/code?id=zzz");
  EXPECT_EQ(unknown.status, 500);
  EXPECT_EQ(unknown.body, R"({"code":"RUNTIME_ERROR","message":"error interruptting code context. no such session"})");
  const std::string idle = CreateContext();
  EXPECT_EQ(Send("DELETE", "/code?id=" + idle).status, 200);
  EXPECT_EQ(Send("DELETE", "/command?id=" + idle).status, 200);
}

TEST_F(ExecdCodeTest, ACommandThatLostItsClientIsRememberedAsEnded) {
  Script({Stdout("x", 5s)});
  std::string id;
  {
    ReplyPlan running = Run("x", "");
    id = Events(Read(running, now_))[0].substr(5);
  }
  EXPECT_EQ(tenant_.execd[sandbox_->id].running.count(id), 1u);
  now_ += 5s;
  EXPECT_THAT(Send("DELETE", "/code?id=" + id).body, HasSubstr("command session " + id + " is not running"));
}

TEST_F(ExecdCodeTest, ABackgroundCommandEndsItsStreamAtOnceAndRunsOn) {
  Script({Stdout("x", 5s)});
  ReplyPlan plan = Run("x", "background-command");
  const std::vector<std::string> events = Events(Read(plan));
  EXPECT_THAT(events, ElementsAre(MatchesRegex("init [0-9a-f]{32}"), "ping pong", "execution_complete"));
  EXPECT_EQ(now_, TimePoint{});
}

TEST_F(ExecdCodeTest, ContextsAreCreatedListedReadAndDeleted) {
  const ReplyPlan created = Send("POST", "/code/context", R"({"language":"python","cwd":"/w"})");
  EXPECT_EQ(created.status, 200);
  EXPECT_THAT(created.body, MatchesRegex(std::string(R"(\{"id":")") + kUuid + R"(","language":"python","cwd":"/w"\})"));
  const std::string python = nlohmann::json::parse(created.body)["id"];
  const std::string bash = CreateContext("bash");
  const std::string python_json = R"({"id":")" + python + R"(","language":"python"})";
  EXPECT_EQ(Send("GET", "/code/contexts/" + python).body, python_json);
  EXPECT_EQ(Send("GET", "/code/contexts?language=python").body, "[" + python_json + "]");
  EXPECT_EQ(Send("GET", "/code/contexts?language=Python").body, "[]");
  EXPECT_EQ(nlohmann::json::parse(Send("GET", "/code/contexts").body).size(), 2u);
  EXPECT_EQ(Send("DELETE", "/code/contexts/" + python).status, 200);
  const ReplyPlan again = Send("DELETE", "/code/contexts/" + python);
  EXPECT_EQ(again.status, 404);
  EXPECT_EQ(again.body, R"({"code":"CONTEXT_NOT_FOUND","message":"context )" + python + R"( not found"})");
  EXPECT_EQ(Send("GET", "/code/contexts/" + python).status, 404);
  EXPECT_EQ(Send("DELETE", "/code/contexts?language=bash").status, 200);
  EXPECT_EQ(Send("GET", "/code/contexts").body, "[]");
  EXPECT_EQ(Send("DELETE", "/code/contexts?language=ruby").status, 200);
  EXPECT_EQ(Send("DELETE", "/code/contexts").body,
            R"({"code":"MISSING_QUERY","message":"missing query parameter 'language'"})");
  for (const std::string language : {"command", "background-command", "sql"}) {
    const ReplyPlan plan = Send("GET", "/code/contexts?language=" + language);
    EXPECT_EQ(plan.status, 500);
    EXPECT_EQ(plan.body,
              R"({"code":"RUNTIME_ERROR","message":"unsupported language context operation: )" + language + "\"}");
  }
}

TEST_F(ExecdCodeTest, DeletingAContextEndsItsRun) {
  const std::string context = CreateContext();
  Script({}, ExecutionEnd::kSilenceWithPings);
  ReplyPlan plan = Send("POST", "/code", R"({"code":"x","context":{"id":")" + context + R"(","language":"python"}})");
  Read(plan, now_ + 1s);
  EXPECT_EQ(Send("DELETE", "/code/contexts/" + context).status, 200);
  const Body body = Read(plan);
  EXPECT_EQ(Events(body).back(), "error KeyboardInterrupt: ");
  EXPECT_EQ(body.ending, Ending::kComplete);
}

TEST_F(ExecdCodeTest, AContextForALanguageWithoutAKernelNeverAnswers) {
  for (const char* body : {R"({"language":"ruby"})", R"({"language":"command"})", "{}"}) {
    const ReplyPlan plan = Send("POST", "/code/context", body);
    ASSERT_TRUE(plan.cut.has_value()) << body;
    EXPECT_EQ(plan.cut->at, Cut::At::kBeforeHead);
    EXPECT_EQ(plan.cut->ending, Ending::kSilence);
  }
}

TEST_F(ExecdCodeTest, ContextsCountTheirExecutionsButNotBlankOnes) {
  Script({Result({{"text/plain", "r"}})});
  std::vector<std::string> counts;
  for (const char* code : {"1", " ", "# note", "2"}) {
    ReplyPlan plan = Run(code);
    counts.push_back(Events(Read(plan))[2]);
  }
  EXPECT_THAT(counts, ElementsAre("execution_count 1", "execution_count 1", "execution_count 2", "execution_count 3"));
}

TEST_F(ExecdCodeTest, SandboxesDoNotShareContexts) {
  const std::string context = CreateContext();
  Sandbox* first = sandbox_;
  sandbox_ = &Create();
  EXPECT_EQ(Send("GET", "/code/contexts/" + context).status, 404);
  sandbox_ = first;
  EXPECT_EQ(Send("GET", "/code/contexts/" + context).status, 200);
}

}  // namespace
}  // namespace opensandbox::emulator
