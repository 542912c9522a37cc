#include "emulator/opensandbox/execd_stream.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "opensandbox/base/virtual_clock.h"
#include "tests/unit/opensandbox/execd_fixture.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Kind = ExecutionEvent::Kind;

class ExecdStreamTest : public SandboxPortTest {
 protected:
  // The events behind `init`, without the pings.
  static std::vector<std::string> Told(const Body& body) {
    std::vector<std::string> events = Events(body);
    EXPECT_FALSE(events.empty());
    if (!events.empty()) {
      EXPECT_THAT(events.front(), StartsWith("init "));
      events.erase(events.begin());
    }
    std::erase(events, "ping pong");
    return events;
  }
  std::vector<std::string> ToldBy(std::vector<ExecutionEvent> events, const std::string& language = "python",
                                  ExecutionEnd end = ExecutionEnd::kComplete) {
    Script(std::move(events), end);
    ReplyPlan plan = Run("code", language);
    const Body body = Read(plan);
    EXPECT_EQ(body.ending, Ending::kComplete);
    return Told(body);
  }
};

TEST_F(ExecdStreamTest, TheBytesAreBareJsonObjectsWithTwoLineFeeds) {
  Script({Stdout("hi\n", 50ms)});
  ReplyPlan plan = Run();
  EXPECT_EQ(plan.status, 200);
  EXPECT_TRUE(plan.chunked);
  EXPECT_THAT(plan.headers,
              ElementsAre(Header{"Cache-Control", "no-cache"}, Header{"Connection", "keep-alive"},
                          Header{"Content-Type", "text/event-stream"}, Header{"X-Accel-Buffering", "no"},
                          Header{"Date", "Thu, 01 Jan 2026 00:00:00 GMT"}, Header{"Transfer-Encoding", "chunked"}));
  const Body body = Read(plan);
  const std::string id = tenant_.execd[sandbox_->id].contexts.begin()->first;
  ASSERT_THAT(body.chunks, SizeIs(4));
  EXPECT_EQ(body.chunks[0].bytes, R"({"type":"init","text":")" + id + "\",\"timestamp\":1767225600000}\n\n");
  EXPECT_EQ(body.chunks[1].bytes, "{\"type\":\"ping\",\"text\":\"pong\",\"timestamp\":1767225600000}\n\n");
  EXPECT_EQ(body.chunks[2].bytes, "{\"type\":\"stdout\",\"text\":\"hi\\n\",\"timestamp\":1767225600050}\n\n");
  EXPECT_EQ(body.chunks[3].bytes,
            "{\"type\":\"execution_complete\",\"execution_time\":50,\"timestamp\":1767225600050}\n\n");
  for (const Chunk& chunk : body.chunks) EXPECT_TRUE(chunk.begins_event && chunk.ends_event);
  EXPECT_EQ(body.ending, Ending::kComplete);
}

TEST_F(ExecdStreamTest, ARunOfNoTimeHasNoExecutionTime) { EXPECT_THAT(ToldBy({}), ElementsAre("execution_complete")); }

TEST_F(ExecdStreamTest, PingsComeEveryThreeSecondsWhileTheStreamIsOpen) {
  Script({Stdout("a", 3s), Stdout("b", 4s)});
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  std::vector<std::string> seen;
  const std::vector<std::string> events = Events(body);
  ASSERT_EQ(events.size(), body.chunks.size());
  for (std::size_t i = 1; i < events.size(); ++i) {
    seen.push_back(events[i].substr(0, events[i].find(' ')) + "@" +
                   std::to_string(body.chunks[i].at.time_since_epoch() / 1s));
  }
  // At the same instant output goes first, and a stream that is over pings no more.
  EXPECT_THAT(seen, ElementsAre("ping@0", "stdout@3", "ping@3", "ping@6", "stdout@7", "execution_complete@7"));
}

TEST_F(ExecdStreamTest, ASlowReaderGetsOneLatePingAndTheTimesThatEventsWouldHaveHad) {
  Script({Stdout("a", 1s), Stdout("b", 1s), Stdout("c", 30s)});
  ReplyPlan plan = Run();
  Read(plan, now_);
  now_ += 20s;
  const Body late = Read(plan, now_);
  EXPECT_THAT(Events(late), ElementsAre("ping pong", "stdout a", "stdout b"));
  EXPECT_THAT(late.chunks[1].bytes, HasSubstr("\"timestamp\":1767225601000"));
  EXPECT_EQ(late.until, TimePoint{} + 21s);  // the ticker keeps its beat
}

TEST_F(ExecdStreamTest, LatePingsAndOutputTakeTurns) {
  Script({[] {
    ExecutionEvent event = Stdout("x");
    event.repeat = 0;
    return event;
  }()});
  ReplyPlan plan = Run();
  std::vector<std::string> kinds;
  for (int i = 0; i < 40; ++i) {
    now_ += 3s;  // a reader so slow that a ping is due at each step
    BodyStep step = plan.source->Next(now_, WallNow());
    ASSERT_EQ(step.kind, BodyStep::Kind::kBytes);
    kinds.push_back(step.bytes.substr(9, 4));
  }
  EXPECT_GE(std::count(kinds.begin(), kinds.end(), "stdo"), 18);
  EXPECT_GE(std::count(kinds.begin(), kinds.end(), "ping"), 18);
}

TEST_F(ExecdStreamTest, AResultHasItsCountInFrontUnlessTheScriptGivesOne) {
  EXPECT_THAT(ToldBy({Stdout("1\n"), Result({{"text/plain", "4"}})}),
              ElementsAre("stdout 1\n", "execution_count 1", R"(result {"text":"4"})", "execution_complete"));
  ExecutionEvent count = Of(Kind::kExecutionCount);
  count.execution_count = 40;
  EXPECT_THAT(ToldBy({count, Result({{"text/plain", "5"}})}),
              ElementsAre("execution_count 40", R"(result {"text":"5"})", "execution_complete"));
  EXPECT_THAT(ToldBy({Result({{"text/plain", "6"}})}),
              ElementsAre("execution_count 3", R"(result {"text":"6"})", "execution_complete"));
}

TEST_F(ExecdStreamTest, ResultsAreSortedAndJsonTypesAreJson) {
  Script({Result({{"text/plain", "J()"}, {"application/json", "{\"b\":1, \"a\":[1,2]}"}, {"image/png", "iVBO="}})});
  ReplyPlan plan = Run();
  EXPECT_THAT(Read(plan).Text(),
              HasSubstr(R"x("results":{"application/json":{"a":[1,2],"b":1},"image/png":"iVBO=","text":"J()"}})x"));
}

TEST_F(ExecdStreamTest, ALastErrorComesBehindExecutionComplete) {
  EXPECT_THAT(
      ToldBy({Stdout("a\n"), Raised("ZeroDivisionError", "division by zero", {"tb"})}),
      ElementsAre("stdout a\n", "execution_complete", "status error", "error ZeroDivisionError: division by zero"));
}

TEST_F(ExecdStreamTest, AScriptedStatusPutsExecutionCompleteBehindTheError) {
  EXPECT_THAT(ToldBy({Of(Kind::kStatus, "error"), Raised("KeyError", "'k'")}),
              ElementsAre("status error", "error KeyError: 'k'", "execution_complete"));
}

TEST_F(ExecdStreamTest, AnErrorInTheMiddleStaysWhereItIs) {
  EXPECT_THAT(ToldBy({Raised("E", "v"), Stdout("late\n")}),
              ElementsAre("status error", "error E: v", "stdout late\n", "execution_complete"));
}

TEST_F(ExecdStreamTest, AnErrorWithoutATracebackGetsOne) {
  Script({Raised("ValueError", "bad")});
  ReplyPlan plan = Run();
  EXPECT_THAT(Read(plan).Text(),
              HasSubstr(R"("error":{"ename":"ValueError","evalue":"bad","traceback":["ValueError: bad"]}})"));
}

TEST_F(ExecdStreamTest, ACommandTellsLinesWithoutTheirEndsAndEndsWithItsError) {
  EXPECT_THAT(
      ToldBy({Stdout("a\nb\r\n\nc\rd"), Stderr("e\n")}, ""),
      ElementsAre("stdout a", "stdout b", "stdout \n", "stdout c", "stdout d", "stderr e", "execution_complete"));
  EXPECT_THAT(ToldBy({Stdout("a\n"), Raised("CommandExecError", "3")}, ""),
              ElementsAre("stdout a", "error CommandExecError: 3"));
}

TEST_F(ExecdStreamTest, SqlHasNoStatusNoCountAndANullTraceback) {
  EXPECT_THAT(ToldBy({Result({{"text/plain", "1"}})}, "sql"),
              ElementsAre(R"(result {"text":"1"})", "execution_complete"));
  Script({Raised("DBInitError", "refused")});
  ReplyPlan plan = Run("select 1", "sql");
  const std::string text = Read(plan).Text();
  EXPECT_THAT(text, HasSubstr(R"("error":{"ename":"DBInitError","evalue":"refused","traceback":null}})"));
  EXPECT_THAT(text, Not(HasSubstr("status")));
  EXPECT_THAT(text, Not(HasSubstr("execution_complete")));
}

TEST_F(ExecdStreamTest, NoCompletionIsACleanEndWithoutTheEvent) {
  EXPECT_THAT(ToldBy({Stdout("a")}, "python", ExecutionEnd::kNoCompletion), ElementsAre("stdout a"));
}

TEST_F(ExecdStreamTest, ABareErrorIsAppendedWithoutAnythingElseAndIsNoEvent) {
  ExecutionEvent bare = Of(Kind::kBareError);
  bare.error_name = "RUNTIME_ERROR";
  bare.error_value = "error running codes <x>";
  Script({Stdout("a"), bare}, ExecutionEnd::kNoCompletion);
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  EXPECT_EQ(body.chunks.back().bytes, R"({"code":"RUNTIME_ERROR","message":"error running codes \u003cx\u003e"})");
  EXPECT_FALSE(body.chunks.back().begins_event);
  EXPECT_FALSE(body.chunks.back().ends_event);
}

TEST_F(ExecdStreamTest, RawBytesGoOutAsTheyAre) {
  Script({Of(Kind::kRaw, "\xff not json"), Of(Kind::kRaw, "{\"type\":\"new\"}\n\n")});
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  ASSERT_THAT(body.chunks, SizeIs(5));
  EXPECT_EQ(body.chunks[2].bytes, "\xff not json");
  EXPECT_FALSE(body.chunks[2].ends_event);
  EXPECT_TRUE(body.chunks[3].ends_event);
}

TEST_F(ExecdStreamTest, SilenceHasNoPingsAndWaitsForNothing) {
  Script({Stdout("a", 4s)}, ExecutionEnd::kSilence);
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  EXPECT_THAT(Events(body), ElementsAre(StartsWith("init"), "ping pong", "ping pong", "stdout a"));
  EXPECT_EQ(body.ending, std::nullopt);
  EXPECT_EQ(body.until, std::nullopt);
}

TEST_F(ExecdStreamTest, SilenceWithPingsGoesOnPinging) {
  Script({Stdout("a")}, ExecutionEnd::kSilenceWithPings);
  ReplyPlan plan = Run();
  const Body body = Read(plan, now_ + 9s);
  EXPECT_THAT(Events(body),
              ElementsAre(StartsWith("init"), "ping pong", "stdout a", "ping pong", "ping pong", "ping pong"));
  EXPECT_EQ(body.until, TimePoint{} + 12s);
}

TEST_F(ExecdStreamTest, ABigEventIsOneLineMadeInSmallPieces) {
  ExecutionEvent big = Stdout("");
  big.generated = GeneratedText{.unit = "<\xc3\xbc", .bytes = 64 << 20, .one_event = true};
  Script({big});
  ReplyPlan plan = Run();
  std::uint64_t bytes = 0;
  std::size_t largest = 0, begins = 0, ends = 0;
  std::string last;
  while (true) {
    BodyStep step = plan.source->Next(now_, WallNow());
    if (step.kind == BodyStep::Kind::kEnd) break;
    ASSERT_EQ(step.kind, BodyStep::Kind::kBytes);
    bytes += step.bytes.size();
    largest = std::max(largest, step.bytes.size());
    begins += step.begins_event ? 1 : 0;
    ends += step.ends_event ? 1 : 0;
    last = std::move(step.bytes);
  }
  EXPECT_EQ(begins, 4u);  // init, ping, the big one, execution_complete
  EXPECT_EQ(ends, 4u);
  EXPECT_LE(largest, 6 * kPieceBytesMax + 100);  // "<" becomes six bytes
  EXPECT_GT(bytes, std::uint64_t{(64 << 20) / 3 * 8});
  EXPECT_THAT(last, HasSubstr("execution_complete"));
}

TEST_F(ExecdStreamTest, ABigEventIsWellFormedJson) {
  ExecutionEvent big = Stdout("");
  big.generated = GeneratedText{.unit = "\"\xf0\x9f\x98\x80\n", .bytes = 3 * kPieceBytesMax, .one_event = true};
  for (const std::string language : {"python", ""}) {
    Script({big});
    ReplyPlan plan = Run("x", language);
    const std::string text = Read(plan).Text();
    const std::size_t begin = text.find("{\"type\":\"stdout\"");
    ASSERT_NE(begin, std::string::npos);
    const auto json = nlohmann::json::parse(text.substr(begin, text.find("\n\n", begin) - begin), nullptr, false);
    ASSERT_TRUE(json.is_object());
    // A command's event has no line end behind it.
    EXPECT_EQ(json["text"].get<std::string>().size(), 3 * kPieceBytesMax - (language.empty() ? 1 : 0));
  }
}

TEST_F(ExecdStreamTest, AnEndlessEmptyOutputDoesNotHangNorRecurse) {
  ExecutionEvent empty = Stdout("");
  empty.repeat = 0;
  Script({empty});
  ReplyPlan plan = Run("x", "");  // a command shows nothing of it
  const Body body = Read(*plan.source, TimePoint::max(), 1000);
  EXPECT_THAT(Events(body), ElementsAre(StartsWith("init"), "ping pong"));
  EXPECT_EQ(body.until, now_);
}

// --- the sandbox under the run --------------------------------------------------------------------------------------

TEST_F(ExecdStreamTest, TheStreamBreaksOffExactlyWhenTheSandboxExpires) {
  sandbox_ = &Create("", 61s);
  Script({[] {
    ExecutionEvent event = Stdout("tick\n");
    event.repeat = 0;
    event.every = 7s;
    return event;
  }()});
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  EXPECT_EQ(body.ending, Ending::kNoTerminator);
  EXPECT_EQ(body.ended, TimePoint{} + 61s);
  EXPECT_EQ(tenant_.store->expired_count(), 1u);
  EXPECT_FALSE(tenant_.execd.contains(sandbox_->id));
}

TEST_F(ExecdStreamTest, ASilentStreamBreaksOffWhenTheSandboxExpiresToo) {
  sandbox_ = &Create("", 100s);
  Script({}, ExecutionEnd::kSilence);
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  EXPECT_EQ(body.ending, Ending::kNoTerminator);
  EXPECT_EQ(body.ended, TimePoint{} + 100s);
}

TEST_F(ExecdStreamTest, AScriptedFailureBreaksTheStreamOffAtItsInstant) {
  sandbox_ = &Create("", {}, {{.state = "Running", .duration = 5s}, {.state = "Failed"}});
  Script({Stdout("a")}, ExecutionEnd::kSilenceWithPings);
  ReplyPlan plan = Run();
  const Body body = Read(plan);
  EXPECT_EQ(body.ending, Ending::kNoTerminator);
  EXPECT_EQ(body.ended, TimePoint{} + 5s);
}

TEST_F(ExecdStreamTest, ADeleteWakesTheStreamAndBreaksItOff) {
  VirtualClock clock;
  Script({}, ExecutionEnd::kSilence);
  ReplyPlan plan = Run();
  const auto waker = clock.NewWaker();
  plan.source->BindWaker(waker);
  Read(plan);
  EXPECT_EQ(clock.Wait({.deadline = clock.Now(), .waker = waker.get()}), WaitOutcome::kDeadline);
  tenant_.store->End(*sandbox_, {.at = now_});
  EXPECT_EQ(clock.Wait({.deadline = clock.Now(), .waker = waker.get()}), WaitOutcome::kWoken);
  EXPECT_EQ(Read(plan).ending, Ending::kNoTerminator);
}

TEST_F(ExecdStreamTest, PausingFreezesTheStreamAndResumingLetsItGoOn) {
  VirtualClock clock;
  Script({Stdout("a", 1s), Stdout("b", 1s)});
  ReplyPlan plan = Run();
  const auto waker = clock.NewWaker();
  plan.source->BindWaker(waker);
  Read(plan, now_ + 1s);
  tenant_.store->SetState(*sandbox_, state::kPaused, "", "", now_);
  EXPECT_EQ(clock.Wait({.deadline = clock.Now(), .waker = waker.get()}), WaitOutcome::kWoken);
  Body body = Read(plan);
  EXPECT_TRUE(body.chunks.empty());
  EXPECT_EQ(body.ending, std::nullopt);
  EXPECT_EQ(body.until, std::nullopt);
  now_ += 100s;
  tenant_.store->SetState(*sandbox_, state::kRunning, "", "", now_);
  body = Read(plan);
  EXPECT_THAT(Events(body), ElementsAre("ping pong", "stdout b", "execution_complete 2000"));
}

TEST_F(ExecdStreamTest, AResetCutsAStreamOfTheOldWorld) {
  Script({}, ExecutionEnd::kSilence);
  ReplyPlan plan = Run();
  Read(plan);
  Load({});
  EXPECT_EQ(Read(plan).ending, Ending::kNoTerminator);
}

// --- interrupts -----------------------------------------------------------------------------------------------------

TEST_F(ExecdStreamTest, AnInterruptEndsAKernelRunWithKeyboardInterrupt) {
  Script({Stdout("start\n")}, ExecutionEnd::kSilenceWithPings);
  ReplyPlan plan = Run();
  Read(plan, now_ + 1s);
  const std::string id = tenant_.execd[sandbox_->id].contexts.begin()->first;
  EXPECT_EQ(Send("DELETE", "/code?id=" + id).status, 200);
  const Body body = Read(plan);
  EXPECT_THAT(Events(body), ElementsAre("execution_complete 1000", "status error", "error KeyboardInterrupt: "));
  EXPECT_EQ(body.ending, Ending::kComplete);
  EXPECT_EQ(body.ended, TimePoint{} + 1s);
}

TEST_F(ExecdStreamTest, AnInterruptEndsACommandWithItsSignal) {
  Script({Stdout("a\n")}, ExecutionEnd::kSilenceWithPings);
  ReplyPlan plan = Run("sleep", "");
  const Body before = Read(plan, now_);
  const std::string id = tenant_.execd[sandbox_->id].running.begin()->first;
  EXPECT_EQ(Events(before)[0], "init " + id);
  EXPECT_EQ(Send("DELETE", "/command?id=" + id).status, 200);
  const Body body = Read(plan);
  EXPECT_THAT(body.Text(),
              HasSubstr(R"({"ename":"CommandExecError","evalue":"-1","traceback":["signal: terminated"]})"));
  EXPECT_THAT(body.chunks, SizeIs(1));
  EXPECT_EQ(Send("DELETE", "/code?id=" + id).body,
            R"({"code":"RUNTIME_ERROR","message":"error interruptting code context. command session )" + id +
                R"( is not running"})");
}

TEST_F(ExecdStreamTest, AnInterruptInTheMiddleOfABigEventClosesThatEventFirst) {
  ExecutionEvent big = Stdout("");
  big.generated = GeneratedText{.bytes = std::uint64_t{10} << 30, .one_event = true};
  Script({big});
  ReplyPlan plan = Run();
  Body body = Read(*plan.source, TimePoint::max(), 5);
  EXPECT_FALSE(body.chunks.back().ends_event);
  Send("DELETE", "/code?id=" + tenant_.execd[sandbox_->id].contexts.begin()->first);
  const Body rest = Read(plan);
  EXPECT_THAT(rest.chunks[0].bytes, StartsWith("\",\"timestamp\":"));
  EXPECT_FALSE(rest.chunks[0].begins_event);
  EXPECT_TRUE(rest.chunks[0].ends_event);
  EXPECT_EQ(rest.ending, Ending::kComplete);
}

// The lock order and the wake-up with real threads: one waits in a clock, one interrupts.
TEST_F(ExecdStreamTest, AnotherThreadsInterruptEndsAWaitingStream) {
  VirtualClock clock;
  Script({}, ExecutionEnd::kSilence);
  ReplyPlan plan = Run();
  const std::string id = tenant_.execd[sandbox_->id].contexts.begin()->first;
  const auto waker = clock.NewWaker();
  plan.source->BindWaker(waker);
  std::vector<std::string> kinds;
  std::jthread reader([&] {
    while (true) {
      BodyStep step = plan.source->Next(clock.Now(), clock.WallNow());
      if (step.kind == BodyStep::Kind::kEnd) return;
      if (step.kind == BodyStep::Kind::kBytes) {
        kinds.push_back(step.bytes.substr(0, step.bytes.find(',')));
      } else {
        clock.Wait({.deadline = step.until, .waker = waker.get(), .label = "stream"});
        waker->Reset();
      }
    }
  });
  while (clock.PendingDeadlines().empty()) std::this_thread::yield();
  EXPECT_EQ(Send("DELETE", "/code?id=" + id).status, 200);
  reader.join();
  EXPECT_THAT(kinds, ElementsAre(HasSubstr("init"), HasSubstr("ping"), HasSubstr("execution_complete"),
                                 HasSubstr("status"), HasSubstr("error")));
}

}  // namespace
}  // namespace opensandbox::emulator
