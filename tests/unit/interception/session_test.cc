// Sandboxes that outlive a request.
#include <condition_variable>
#include <thread>

#include "tests/unit/interception/fake_provider.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class SessionTest : public InterceptionTest {
 protected:
  static ModelRequest SessionRequest(const std::string& session, const std::string& identity = "alice") {
    ModelRequest request;
    request.json = ResponsesRequest(R"(,"metadata":{"session_id":")" + session + R"("})");
    request.identity = identity;
    return request;
  }
  static CallModel OneCall(const std::string& code) {
    return [code, round = 0](const std::string&, const std::stop_token&) mutable -> Result<std::string> {
      return round++ == 0 ? Output(CodeCall("c1", code)) : Output(MessageItem());
    };
  }
  Result<LoopResult> RunIn(const std::string& session, const std::string& identity = "alice",
                           const std::string& code = "1") {
    return handler().RunAgenticLoop(SessionRequest(session, identity), OneCall(code));
  }
  // What the model was told about its one call.
  static std::string Told(const Result<LoopResult>& result) {
    return result && result->calls.size() == 1 ? result->calls[0].output : "";
  }
};

TEST_F(SessionTest, RequestsOfASessionShareASandbox) {
  ASSERT_THAT(RunIn("s"), IsOk());
  ASSERT_THAT(RunIn("s"), IsOk());
  EXPECT_THAT(provider_->events(), ElementsAre("create sb-1", "run sb-1 1", "renew sb-1", "run sb-1 1"));
  EXPECT_EQ(handler().sessions_count(), 1u);
}

TEST_F(SessionTest, SessionsAndIdentitiesAreKeptApart) {
  ASSERT_THAT(RunIn("s", "alice"), IsOk());
  ASSERT_THAT(RunIn("t", "alice"), IsOk());
  ASSERT_THAT(RunIn("s", "bob"), IsOk());
  // Not even when a separator could be mistaken.
  ASSERT_THAT(RunIn("b:s", "a"), IsOk());
  ASSERT_THAT(RunIn("s", "a:b"), IsOk());
  EXPECT_THAT(provider_->creates(), SizeIs(5));
}

TEST_F(SessionTest, TheIdentityIsNotReadFromTheBody) {
  ModelRequest forged = SessionRequest("s", "mallory");
  forged.json =
      ResponsesRequest(R"(,"user_api_key_hash":"alice","metadata":{"session_id":"s","user_api_key_hash":"alice"})");
  ASSERT_THAT(RunIn("s", "alice"), IsOk());
  ASSERT_THAT(handler().RunAgenticLoop(forged, OneCall("1")), IsOk());
  EXPECT_THAT(provider_->creates(), SizeIs(2));
}

TEST_F(SessionTest, TheHandlersEndDeletesAll) {
  ASSERT_THAT(RunIn("s"), IsOk());
  ASSERT_THAT(RunIn("t"), IsOk());
  EXPECT_THAT(provider_->live(), SizeIs(2));
  EndHandler();
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(SessionTest, TheLifetimeCoversTheIdleTimeout) {
  ASSERT_THAT(RunIn("s"), IsOk());
  EXPECT_EQ(provider_->creates()[0].timeout_seconds, 960);  // 900 s and a minute
  ASSERT_THAT(RunIn("s"), IsOk());
  ASSERT_THAT(provider_->renewals, SizeIs(1));
  EXPECT_EQ(provider_->renewals[0].lifetime, 960s);
}

TEST_F(SessionTest, AToolsLongerLifetimeIsKept) {
  options_.sandbox_config_params.timeout_seconds = 5000;
  ASSERT_THAT(RunIn("s"), IsOk());
  EXPECT_EQ(provider_->creates()[0].timeout_seconds, 5000);
}

// --- ended sandboxes
// ----------------------------------------------------------------------------------------------------

TEST_F(SessionTest, ASandboxThatEndedIsReplacedAndTheLossTold) {
  ASSERT_THAT(RunIn("s"), IsOk());
  provider_->Kill("sb-1");
  const Result<LoopResult> result = RunIn("s");
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->session_state_lost);
  EXPECT_EQ(Told(result), "[the sandbox had ended and was replaced; what earlier code left in it is lost]\n1");
  EXPECT_THAT(provider_->live(), ElementsAre("sb-2"));
  EXPECT_FALSE(RunIn("s")->session_state_lost);
}

TEST_F(SessionTest, EndedBetweenRenewalAndRunItIsReplacedOnce) {
  int runs = 0;
  provider_->on_run = [&](const std::string& id, const RunCodeRequest&) -> Result<CodeExecutionResult> {
    if (++runs == 2) return MakeError(ErrorKind::kTerminalState, "x", Outcome::kDidNotHappen);
    return Printed(id);
  };
  ASSERT_THAT(RunIn("s"), IsOk());
  const Result<LoopResult> result = RunIn("s");
  EXPECT_THAT(Told(result), HasSubstr("sb-2"));
  EXPECT_TRUE(result->session_state_lost);
  // The dead one is deleted: a failed sandbox stays at the provider.
  EXPECT_THAT(provider_->live(), ElementsAre("sb-2"));
}

TEST_F(SessionTest, CodeThatMayHaveRunIsNotRunAgain) {
  int runs = 0;
  provider_->on_run = [&](const std::string&, const RunCodeRequest&) -> Result<CodeExecutionResult> {
    ++runs;
    return MakeError(ErrorKind::kSandboxGone, "x", Outcome::kHappened);
  };
  const Result<LoopResult> result = RunIn("s");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(result->calls[0].container_id, "sb-1");
  EXPECT_THAT(Told(result), HasSubstr("[sandbox error] the sandbox has ended"));
  EXPECT_THAT(provider_->live(), IsEmpty());
  EXPECT_EQ(handler().sessions_count(), 0u);
}

TEST_F(SessionTest, ASandboxThatDiesAtEveryRunEndsTheTries) {
  provider_->on_run = [&](const std::string&, const RunCodeRequest&) -> Result<CodeExecutionResult> {
    return MakeError(ErrorKind::kSandboxGone);
  };
  const Result<LoopResult> result = RunIn("s");
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->calls[0].failed);
  EXPECT_THAT(provider_->creates(), SizeIs(2));
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(SessionTest, ARenewalThatFailsOtherwiseIsNoReasonToLoseState) {
  ASSERT_THAT(RunIn("s"), IsOk());
  provider_->renew_error = MakeError(ErrorKind::kApi);
  EXPECT_FALSE(RunIn("s")->session_state_lost);
  // Unless the sandbox ends soon anyway: it has 960 s, and is trusted to its last 30.
  clock_.Advance(899s);
  EXPECT_FALSE(RunIn("s")->session_state_lost);
  clock_.Advance(31s);  // 30 left
  EXPECT_FALSE(RunIn("s")->session_state_lost);
  clock_.Advance(1s);
  EXPECT_TRUE(RunIn("s")->session_state_lost);
  EXPECT_THAT(provider_->live(), ElementsAre("sb-2"));
}

TEST_F(SessionTest, AProviderThatCannotRenewGetsANewSandboxInTime) {
  auto plain = std::make_shared<FakeProvider>();
  options_.sandbox_config = plain;
  ASSERT_THAT(RunIn("s"), IsOk());
  clock_.Advance(500s);
  ASSERT_THAT(RunIn("s"), IsOk());
  EXPECT_THAT(plain->creates(), SizeIs(1));
  clock_.Advance(431s);
  EXPECT_TRUE(RunIn("s")->session_state_lost);
  EXPECT_THAT(plain->live(), ElementsAre("sb-2"));
}

// --- pruning
// ------------------------------------------------------------------------------------------------------------

TEST_F(SessionTest, IdleSessionsArePrunedExactlyAtTheTimeout) {
  ASSERT_THAT(RunIn("s"), IsOk());
  clock_.Advance(899s);
  EXPECT_EQ(handler().Prune(), 0u);
  ASSERT_THAT(RunIn("s"), IsOk());  // refreshes
  clock_.Advance(900s - 1ns);
  EXPECT_EQ(handler().Prune(), 0u);
  clock_.Advance(1ns);
  EXPECT_EQ(handler().Prune(), 1u);
  EXPECT_THAT(provider_->live(), IsEmpty());
  EXPECT_EQ(handler().Prune(), 0u);
}

TEST_F(SessionTest, TheBackgroundThreadPrunesWithoutBeingAsked) {
  std::mutex mutex;
  std::condition_variable deleted;
  bool done = false;
  provider_->on_delete = [&](const std::string&) {
    const std::lock_guard lock(mutex);
    done = true;
    deleted.notify_all();
  };
  VirtualClock hand(VirtualClock::Options{.auto_jump = false});
  options_.clock = &hand;
  options_.prune_in_background = true;
  ASSERT_THAT(RunIn("s"), IsOk());
  hand.Advance(900s);
  std::unique_lock lock(mutex);
  deleted.wait(lock, [&] { return done; });
  lock.unlock();
  EndHandler();
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(SessionTest, AllIdleSessionsCanBeDeletedNow) {
  ASSERT_THAT(RunIn("s"), IsOk());
  ASSERT_THAT(RunIn("t"), IsOk());
  EXPECT_EQ(handler().DeleteIdleSessions(), 2u);
  EXPECT_THAT(provider_->live(), IsEmpty());
  EXPECT_EQ(handler().sessions_count(), 0u);
}

TEST_F(SessionTest, AFailedDeleteOfASessionReachesTheLeakSink) {
  ASSERT_THAT(RunIn("s"), IsOk());
  provider_->delete_error = MakeError(ErrorKind::kTransport);
  handler().DeleteIdleSessions();
  ASSERT_THAT(leaks_.Leaks(), SizeIs(1));
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "sb-1");
}

// --- the cap
// --------------------------------------------------------------------------------------------------------------

TEST_F(SessionTest, TheEleventhSessionEvictsTheLeastRecentlyUsed) {
  for (int i = 1; i <= 10; ++i) ASSERT_THAT(RunIn("s" + std::to_string(i)), IsOk());
  EXPECT_THAT(provider_->live(), SizeIs(10));
  ASSERT_THAT(RunIn("s1"), IsOk());  // now s2 is the oldest
  ASSERT_THAT(RunIn("s11"), IsOk());
  EXPECT_EQ(provider_->live().count("sb-1"), 1u);
  EXPECT_EQ(provider_->live().count("sb-2"), 0u);
  // Room is made first: never eleven, not even for a moment.
  EXPECT_EQ(provider_->live_max(), 10u);
  ASSERT_THAT(RunIn("s12", "bob"), IsOk());
  EXPECT_THAT(provider_->live(), SizeIs(11));  // another identity has its own cap
}

TEST_F(SessionTest, ASessionInUseIsNotEvicted) {
  options_.sessions_per_identity_max = 1;
  options_.session_slot_wait = 5s;
  Result<InterceptedRequest> busy = handler().PreCall(SessionRequest("s"));
  ASSERT_THAT(handler().BuildFollowUp(*busy, Output(CodeCall("c1", "1"))), IsOk());
  const Result<LoopResult> other = RunIn("t");
  EXPECT_EQ(Told(other), "[sandbox error] the sandbox was not ready in time");
  EXPECT_EQ(clock_.Elapsed(), 5s);
  EXPECT_EQ(handler().Prune(), 0u);
  clock_.Advance(2000s);
  EXPECT_EQ(handler().Prune(), 0u);
  EXPECT_EQ(handler().DeleteIdleSessions(), 0u);
  EXPECT_THAT(provider_->live(), ElementsAre("sb-1"));
  ASSERT_THAT(handler().Finish(*busy, Output(MessageItem())), IsOk());
  ASSERT_THAT(RunIn("t"), IsOk());
  EXPECT_THAT(provider_->live(), ElementsAre("sb-2"));
}

// --- concurrency
// ----------------------------------------------------------------------------------------------------------

TEST_F(SessionTest, ConcurrentRequestsOfASessionCreateOneSandbox) {
  constexpr int kThreads = 8;
  std::atomic<int> inside{0};
  std::atomic<int> inside_max{0};
  provider_->on_run = [&](const std::string& id, const RunCodeRequest&) {
    const int now = ++inside;
    inside_max = std::max(inside_max.load(), now);
    std::this_thread::yield();
    --inside;
    return Printed(id);
  };
  std::atomic<int> good{0};
  InterceptionHandler& shared = handler();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        const Result<LoopResult> result = shared.RunAgenticLoop(SessionRequest("s"), OneCall("1"));
        if (Told(result) == "sb-1") ++good;
      });
    }
  }
  EXPECT_EQ(good, kThreads);
  EXPECT_THAT(provider_->creates(), SizeIs(1));
  EXPECT_EQ(inside_max, 1);  // one context runs one piece of code at a time
}

TEST_F(SessionTest, ThoseWhoWaitedForAFailedCreateGetItsError) {
  std::mutex mutex;
  std::condition_variable changed;
  bool creating = false;
  bool go = false;
  std::atomic<int> attempts{0};
  provider_->on_create = [&](const CreateSandboxRequest&) -> std::optional<Error> {
    ++attempts;
    std::unique_lock lock(mutex);
    creating = true;
    changed.notify_all();
    changed.wait(lock, [&] { return go; });
    return MakeError(ErrorKind::kTransport);
  };
  InterceptionHandler& shared = handler();
  std::string first, second;
  std::jthread creator([&] { first = Told(shared.RunAgenticLoop(SessionRequest("s"), OneCall("1"))); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return creating; });
  }
  std::jthread waiter([&] { second = Told(shared.RunAgenticLoop(SessionRequest("s"), OneCall("1"))); });
  // The clock tells when the other one waits.
  while (clock_.PendingDeadlines().empty()) std::this_thread::yield();
  {
    const std::lock_guard lock(mutex);
    go = true;
    changed.notify_all();
  }
  creator.join();
  waiter.join();
  EXPECT_EQ(first, "[sandbox error] the sandbox could not be reached");
  EXPECT_EQ(second, first);
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(handler().sessions_count(), 0u);
}

TEST_F(SessionTest, ACancelledWaiterLeavesAtOnce) {
  Result<InterceptedRequest> busy = handler().PreCall(SessionRequest("s"));
  std::stop_source source;
  provider_->on_run = [&](const std::string&, const RunCodeRequest&) -> Result<CodeExecutionResult> {
    // While the first one runs, a second one comes, waits, and is cancelled.
    ModelRequest request = SessionRequest("s");
    request.stop = source.get_token();
    Result<LoopResult> result = MakeError(ErrorKind::kProtocol);
    std::jthread second([&] { result = handler().RunAgenticLoop(request, OneCall("1")); });
    while (clock_.PendingDeadlines().empty()) std::this_thread::yield();
    source.request_stop();
    second.join();
    EXPECT_THAT(result, FailsWith(ErrorKind::kCancelled));
    return Printed("x");
  };
  EXPECT_THAT(handler().BuildFollowUp(*busy, Output(CodeCall("c1", "1"))), IsOk());
  EXPECT_THAT(provider_->creates(), SizeIs(1));
}

TEST_F(SessionTest, ManyIdentitiesAndSessionsAtOnceLeaveNothingBehind) {
  options_.sessions_per_identity_max = 2;
  InterceptionHandler& shared = handler();
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t) {
      threads.emplace_back([&shared, &good, t] {
        for (int i = 0; i < 30; ++i) {
          const std::string session = "s" + std::to_string((t + i) % 4);
          const std::string identity = "id" + std::to_string(t % 2);
          if (shared.RunAgenticLoop(SessionRequest(session, identity), OneCall("1"))) ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, 180);
  EXPECT_LE(provider_->live_max(), 4u);
  EndHandler();
  EXPECT_THAT(provider_->live(), IsEmpty());
}

// --- a request's own sandbox
// ----------------------------------------------------------------------------------------------

TEST_F(SessionTest, ALongRequestsOwnSandboxIsRenewedAtHalfItsLife) {
  ModelRequest request;
  request.json = ResponsesRequest();
  Result<InterceptedRequest> own = handler().PreCall(request);
  ASSERT_THAT(handler().BuildFollowUp(*own, Output(CodeCall("c1", "1"))), IsOk());
  clock_.Advance(149s);
  ASSERT_THAT(handler().BuildFollowUp(*own, Output(CodeCall("c1", "2"))), IsOk());
  EXPECT_THAT(provider_->renewals, IsEmpty());
  clock_.Advance(1s);
  ASSERT_THAT(handler().BuildFollowUp(*own, Output(CodeCall("c1", "3"))), IsOk());
  ASSERT_THAT(provider_->renewals, SizeIs(1));
  EXPECT_EQ(provider_->renewals[0].lifetime, 300s);
}

}  // namespace
}  // namespace opensandbox
