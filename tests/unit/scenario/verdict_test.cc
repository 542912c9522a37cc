#include "emulator/scenario/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A tenant's books, filled by hand.
class VerdictTest : public testing::Test {
 protected:
  void Load(const std::string& fields) {
    const LoadedScenario loaded = ParseScenario(R"({"schemaVersion": 1, "name": "n", )" + fields + "}", "f");
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
    if (loaded.scenario != nullptr) scenario_ = loaded.scenario;
    engine_ = std::make_unique<ScenarioEngine>(scenario_, 1);
  }
  // A request and its complete reply at that time.
  std::uint64_t Add(const std::string& operation, Duration at, Ending ending = Ending::kComplete) {
    JournalEntry entry;
    entry.operation = operation;
    entry.method = "POST";
    entry.received = kStart + at;
    entry.rules = engine_->Decide({operation, nullptr, "", at}).RuleIds();
    const std::uint64_t number = journal_.Begin(entry);
    ExchangeEnd end;
    end.status = 200;
    end.body_bytes = 120;
    end.ending = ending;
    end.at = kStart + at;
    journal_.Finish(number, end);
    return number;
  }
  Sandbox* Create(Duration at) {
    const std::uint64_t number = Add("createSandbox", at);
    SandboxSpec spec;
    spec.timeout = 300s;
    Sandbox* sandbox = store_.Create(spec, {}, number, kStart + at, WallTime{});
    store_.SetExpiry(*sandbox, kStart + at + 300s, WallTime{} + 300s);
    return sandbox;
  }
  void Delete(Sandbox* sandbox, Duration at) {
    store_.End(*sandbox, {SandboxEnd::By::kDelete, kStart + at, Add("deleteSandbox", at)});
  }
  Verdict JudgeAt(Duration at, bool strict = false, const std::vector<std::string>& step_failures = {}) {
    store_.AdvanceTo(kStart + at);
    return Judge(*scenario_, *engine_, store_, journal_, kStart, kStart + at, strict, step_failures);
  }
  std::vector<std::string> FailuresAt(Duration at) { return JudgeAt(at).failures; }

  static constexpr TimePoint kStart{100s};
  std::shared_ptr<const Scenario> scenario_ = DefaultScenario();
  std::unique_ptr<ScenarioEngine> engine_ = std::make_unique<ScenarioEngine>(scenario_, 1);
  SandboxStore store_{SandboxStore::Options{}};
  Journal journal_{10};
};

TEST_F(VerdictTest, NothingAtAllPasses) {
  const Verdict verdict = JudgeAt(2s);
  EXPECT_TRUE(verdict.passed);
  EXPECT_THAT(verdict.failures, IsEmpty());
  EXPECT_EQ(verdict.virtual_duration, 2s);
}

TEST_F(VerdictTest, NumbersAreReported) {
  Load(R"("faults": [{"id": "a", "on": "*", "first": 2, "delay": "1s"}])");
  Delete(Create(1s), 2s);
  Add("ping", 3s);
  const Verdict verdict = JudgeAt(4s);
  EXPECT_THAT(verdict.failures, IsEmpty());
  EXPECT_EQ(verdict.requests, 3u);
  EXPECT_EQ(verdict.faults_fired, 2u);
  EXPECT_EQ(verdict.ledger.created, 1u);
  EXPECT_EQ(verdict.ledger.deleted, 1u);
}

TEST_F(VerdictTest, ALeakFailsUnlessItIsExpected) {
  Create(1s);
  EXPECT_THAT(FailuresAt(2s), ElementsAre(HasSubstr("sb-1 leaked: created by POST #1")));
  Load(R"("expect": {"live": 1, "leaks": 1})");
  EXPECT_THAT(FailuresAt(2s), IsEmpty());
}

TEST_F(VerdictTest, ASandboxThatOnlyItsTimeoutEndedIsALeak) {
  Create(0s);
  EXPECT_THAT(FailuresAt(301s), ElementsAre(HasSubstr("sb-1")));
  Load(R"("expect": {"live": 0, "expired": 1, "leaks": 1})");
  EXPECT_THAT(FailuresAt(301s), IsEmpty());
}

TEST_F(VerdictTest, ExpectedLeaksThatAreMissingFail) {
  Load(R"("expect": {"leaks": 2})");
  Create(0s);
  EXPECT_THAT(FailuresAt(1s), ElementsAre("expected 2 leaks, found 1", HasSubstr("sb-1 leaked")));
}

TEST_F(VerdictTest, LedgerNumbersMustAgree) {
  Load(R"("expect": {"created": 2, "deleted": 2, "expired": 1, "live": 1, "leaks": 1})");
  Delete(Create(0s), 1s);
  EXPECT_THAT(FailuresAt(2s),
              ElementsAre("expected 2 sandboxes created, found 1", "expected 2 sandboxes deleted, found 1",
                          "expected 1 sandbox ended by their timeout, found 0",
                          "expected 1 sandbox alive at the end, found 0", "expected 1 leak, found 0"));
}

TEST_F(VerdictTest, RequestCountsAreComparedWithBothLimits) {
  Load(R"("expect": {"requests": [
      {"operation": "ping", "count": 2}, {"operation": "getSandbox", "atLeast": 2}, {"operation": "runCode", "atMost": 1},
      {"operation": "health", "atLeast": 1, "atMost": 1}, {"operation": "listSandboxes", "count": 0}]})");
  Add("ping", 0s);
  Add("ping", 1500ms);
  Add("getSandbox", 2s);
  Add("getSandbox", 2s);
  Add("runCode", 2s);
  Add("health", 3s);
  EXPECT_THAT(FailuresAt(4s), IsEmpty());
  Add("ping", 4s);
  Add("runCode", 4s);
  Add("health", 4s);
  Add("listSandboxes", 4s);
  EXPECT_THAT(FailuresAt(5s), ElementsAre("expected 2 ping requests, found 3: #1 at 0s, #2 at 1.5s, #7 at 4s",
                                          "expected at most 1 runCode request, found 2: #5 at 2s, #8 at 4s",
                                          "expected at most 1 health request, found 2: #6 at 3s, #9 at 4s",
                                          "expected 0 listSandboxes requests, found 1: #10 at 4s"));
}

TEST_F(VerdictTest, TooFewRequestsFail) {
  Load(R"("expect": {"requests": [{"operation": "ping", "atLeast": 2}]})");
  Add("ping", 1s);
  EXPECT_THAT(FailuresAt(2s), ElementsAre("expected at least 2 ping requests, found 1: #1 at 1s"));
}

TEST_F(VerdictTest, TheFirstRequestMustComeInTime) {
  Load(R"("expect": {"requests": [{"operation": "ping", "within": "2s"}]})");
  EXPECT_THAT(FailuresAt(1s), ElementsAre("expected a ping request within 2s, found none"));
  Add("ping", 2001ms);
  EXPECT_THAT(FailuresAt(3s), ElementsAre("expected the first ping request within 2s, found it (#1) at 2.001s"));
  journal_ = Journal();
  Add("ping", 2s);
  Add("ping", 9s);
  EXPECT_THAT(FailuresAt(9s), IsEmpty());
}

TEST_F(VerdictTest, TheOrderIsASubsequence) {
  Load(R"("expect": {"order": ["createSandbox", "getSandbox", "deleteSandbox"]})");
  Add("health", 0s);
  Add("createSandbox", 0s);
  Add("getSandbox", 1s);
  Add("getSandbox", 1s);
  EXPECT_THAT(FailuresAt(1s),
              ElementsAre("expected the requests createSandbox, getSandbox, deleteSandbox in this order, found no "
                          "deleteSandbox after getSandbox; received were health, createSandbox, getSandbox (2 times)"));
  Add("deleteSandbox", 2s);
  EXPECT_THAT(FailuresAt(2s), IsEmpty());
}

TEST_F(VerdictTest, ADroppedJournalIsNotJudgedAsIfItWereWhole) {
  Load(R"("expect": {"requests": [{"operation": "ping", "count": 11}], "order": ["ping"]})");
  for (int i = 0; i < 11; ++i) Add("ping", 0s);
  EXPECT_THAT(FailuresAt(1s),
              ElementsAre("the journal has dropped its oldest 1 entry, so the expected requests can't be judged"));
}

TEST_F(VerdictTest, AFaultThatNeverFiredFails) {
  const std::string faults = R"("faults": [{"id": "none", "on": "ping", "nth": 1, "delay": "1s"},
      {"id": "late", "on": "runCode", "nth": 3, "delay": "1s"},
      {"id": "all", "on": "*", "nth": 9, "delay": "1s"},
      {"id": "spare", "on": "ping", "delay": "1s", "mayStayUnused": true},
      {"id": "used", "on": "runCode", "nth": 1, "delay": "1s"}])";
  Load(faults);
  Add("runCode", 0s);
  Add("runCode", 0s);
  EXPECT_THAT(FailuresAt(1s),
              ElementsAre("the fault none never fired: no ping request fitted it",
                          "the fault late never fired: 2 runCode requests fitted it, but its turn never came",
                          "the fault all never fired: 2 requests fitted it, but its turn never came"));
  Load(faults + R"(, "expect": {"faults": "any"})");
  EXPECT_THAT(FailuresAt(1s), IsEmpty());
}

TEST_F(VerdictTest, ACutBehindTheEndOfTheReplyNeverCame) {
  Load(R"("faults": [{"id": "torn", "on": "runCode", "cut": {"atEvent": 30}}])");
  Add("runCode", 0s, Ending::kComplete);
  EXPECT_THAT(FailuresAt(1s), ElementsAre("the cut of the fault torn never came: the reply to runCode #1 was complete "
                                          "after 120 bytes"));
  Add("runCode", 0s, Ending::kFin);
  EXPECT_THAT(FailuresAt(1s), IsEmpty());
}

TEST_F(VerdictTest, EverythingMustEndInTime) {
  Load(R"("expect": {"within": "5s"})");
  EXPECT_THAT(FailuresAt(5s), IsEmpty());
  EXPECT_THAT(FailuresAt(5001ms), ElementsAre("expected everything to take at most 5s, it took 5.001s"));
}

TEST_F(VerdictTest, UnmatchedExecutionsWarnOrFail) {
  Load(R"("execution": [{"match": {"code": "x"}, "events": [{"stdout": "1"}]}])");
  JournalEntry entry;
  entry.operation = "runCode";
  ExecutionCall call;
  call.operation = "runCode";
  call.code = "y";
  engine_->PlanExecution(call, &entry.near_miss);
  journal_.Begin(entry);
  const std::string sentence =
      "1 execution matched no rule and gave an empty success; of #1 the closest rule is execution/0: its code is "
      "\"y\", "
      "the rule wants \"x\"";
  EXPECT_THAT(JudgeAt(1s).warnings, ElementsAre(sentence));
  EXPECT_TRUE(JudgeAt(1s).passed);
  EXPECT_THAT(JudgeAt(1s, true).failures, ElementsAre(sentence));
  EXPECT_FALSE(JudgeAt(1s, true).passed);
}

TEST_F(VerdictTest, FailuresOfTheStepsComeFirst) {
  Create(0s);
  const Verdict verdict = JudgeAt(1s, false, {"step 1 (create): expected success, got nothing"});
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.failures,
              ElementsAre("step 1 (create): expected success, got nothing", HasSubstr("sb-1 leaked")));
}

}  // namespace
}  // namespace opensandbox::emulator
