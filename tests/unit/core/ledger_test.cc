#include "emulator/core/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/core/operation.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint kStart{};
constexpr WallTime kWall{std::chrono::seconds(1767225600)};

TEST(JournalTest, NumbersCountFromOneAndFindTheirEntries) {
  Journal journal;
  EXPECT_EQ(journal.Begin({.operation = "a"}), 1u);
  EXPECT_EQ(journal.Begin({.operation = "b"}), 2u);
  EXPECT_EQ(journal.Find(0), nullptr);
  EXPECT_EQ(journal.Find(1)->operation, "a");
  EXPECT_EQ(journal.Find(2)->number, 2u);
  EXPECT_EQ(journal.Find(3), nullptr);
  EXPECT_EQ(journal.open_count(), 2u);
}

TEST(JournalTest, FinishIsNotedOnceAndCountsTheOpenOnes) {
  Journal journal;
  journal.Begin({});
  journal.Finish(1, {.status = 200});
  journal.Finish(1, {.status = 500});
  journal.Finish(2, {.status = 500});
  journal.Finish(0, {.status = 500});
  EXPECT_EQ(journal.Find(1)->end->status, 200);
  EXPECT_EQ(journal.open_count(), 0u);
}

TEST(JournalTest, KeepsTheNewestAtTheLimitAndCountsTheRest) {
  Journal journal(3);
  for (int i = 0; i < 3; ++i) journal.Begin({});
  EXPECT_EQ(journal.dropped(), 0u);
  EXPECT_NE(journal.Find(1), nullptr);
  journal.Begin({});
  EXPECT_EQ(journal.dropped(), 1u);
  EXPECT_EQ(journal.entries().size(), 3u);
  EXPECT_EQ(journal.Find(1), nullptr);
  EXPECT_EQ(journal.Find(2)->number, 2u);
  EXPECT_EQ(journal.Find(4)->number, 4u);
  journal.Finish(1, {.status = 200});  // dropped while it was open
  EXPECT_EQ(journal.open_count(), 3u);
  EXPECT_EQ(journal.total(), 4u);
}

class LedgerTest : public ::testing::Test {
 protected:
  std::uint64_t Note(const std::string& method, const std::string& operation, const std::string& id, TimePoint at,
                     std::optional<ExchangeEnd> end, std::vector<std::string> rules = {}) {
    const std::uint64_t number = journal_.Begin(
        {.operation = operation, .method = method, .sandbox_id = id, .received = at, .rules = std::move(rules)});
    if (end) journal_.Finish(number, *end);
    return number;
  }
  // A sandbox created by the next request, at 1.2 s.
  Sandbox& Create(std::optional<ExchangeEnd> end, std::vector<std::string> rules = {},
                  std::optional<Duration> timeout = {}) {
    SandboxSpec spec;
    spec.timeout = timeout;
    SandboxBehaviour behaviour;
    behaviour.rule_id = "sandboxes/0";
    Sandbox* sandbox =
        store_.Create(std::move(spec), std::move(behaviour), journal_.total() + 1, kStart + 1200ms, kWall + 1200ms);
    Note("POST", operation::kCreateSandbox, sandbox->id, kStart + 1200ms, end, std::move(rules));
    return *sandbox;
  }
  void Delete(Sandbox& sandbox, std::optional<ExchangeEnd> end, std::vector<std::string> rules = {}) {
    Note("DELETE", operation::kDeleteSandbox, sandbox.id, kStart + 2s, end, std::move(rules));
  }
  std::vector<std::string> Sentences(TimePoint now = kStart + 10s, TimePoint start = kStart) {
    std::vector<std::string> sentences;
    for (const LeakedSandbox& leak : FindLeaks(store_, journal_, now, start)) sentences.push_back(leak.sentence);
    return sentences;
  }
  static ExchangeEnd Answered(int status) {
    return {.status = status, .ending = Ending::kComplete, .at = kStart + 1300ms};
  }

  SandboxStore store_{SandboxStore::Options{.seed = 1}};
  Journal journal_;
};

TEST_F(LedgerTest, AnOrdinaryLeakNamesItsRequestAndAnswer) {
  Note("GET", operation::kHealth, "", kStart, Answered(200));
  Create(Answered(202), {"sandboxes/0"});
  EXPECT_THAT(Sentences(), ElementsAre("sb-1 leaked: created by POST #2 at 1.2s, answered 202, never deleted"));
}

TEST_F(LedgerTest, TheSentenceOfALostCreate) {
  Create(ExchangeEnd{.status = 0, .ending = Ending::kRst, .client_closed = true, .at = kStart + 1400ms},
         {"sandboxes/0", "lost-create"});
  EXPECT_THAT(Sentences(),
              ElementsAre("sb-1 leaked: created by POST #1 at 1.2s, answer cut before headers (fault lost-create), "
                          "never deleted; client closed its connection at 1.4s"));
}

TEST_F(LedgerTest, EveryFateOfACreateHasItsWords) {
  struct Row {
    std::optional<ExchangeEnd> end;
    std::string words;
  };
  const std::vector<Row> rows = {
      {std::nullopt, "not yet answered (fault f), never deleted"},
      {Answered(503), "answered 503 (fault f), never deleted"},
      {ExchangeEnd{.status = 202, .ending = Ending::kClean}, "answered 202 (fault f), never deleted"},
      {ExchangeEnd{.ending = Ending::kFin}, "answer cut before headers (fault f), never deleted"},
      {ExchangeEnd{.ending = Ending::kSilence}, "never answered (fault f), never deleted"},
      {ExchangeEnd{.client_closed = true, .at = kStart + 2s},
       "never answered (fault f), never deleted; client closed its connection at 2s"},
      {ExchangeEnd{.status = 202, .ending = Ending::kRst}, "answer 202 cut after headers (fault f), never deleted"},
      {ExchangeEnd{.status = 202, .body_bytes = 12, .ending = Ending::kNoTerminator},
       "answer 202 cut after 12 body bytes (fault f), never deleted"},
      {ExchangeEnd{.status = 202, .body_bytes = 12, .client_closed = true, .at = kStart + 1500ms + 1ns},
       "answer 202 not read to its end (fault f), never deleted; client closed its connection at 1.5s"},
  };
  for (const Row& row : rows) {
    Create(row.end, {"f"});
    EXPECT_THAT(Sentences().back(), ::testing::EndsWith("at 1.2s, " + row.words));
  }
  EXPECT_EQ(Sentences().size(), rows.size());
}

TEST_F(LedgerTest, FailedDeletesAreNamedWithTheirFate) {
  Sandbox& sandbox = Create(Answered(202));
  Delete(sandbox, Answered(500), {"flaky-delete"});
  Delete(sandbox, ExchangeEnd{.ending = Ending::kSilence});
  EXPECT_THAT(Sentences(), ElementsAre("sb-1 leaked: created by POST #1 at 1.2s, answered 202, delete failed: "
                                       "DELETE #2 answered 500 (fault flaky-delete), DELETE #3 never answered"));
  Delete(sandbox, Answered(502));
  EXPECT_THAT(Sentences()[0], ::testing::EndsWith(", DELETE #4 answered 502"));
  Delete(sandbox, Answered(503));
  EXPECT_THAT(Sentences()[0], ::testing::EndsWith(", DELETE #4 answered 502 and 1 more"));
}

TEST_F(LedgerTest, ASandboxThatOnlyItsTimeoutEndedIsALeak) {
  Create(Answered(202), {}, 60s);
  store_.AdvanceTo(kStart + 100s);
  const std::vector<LeakedSandbox> leaks = FindLeaks(store_, journal_, kStart + 100s);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_TRUE(leaks[0].expired);
  EXPECT_EQ(leaks[0].age, 60s);
  EXPECT_EQ(leaks[0].sentence,
            "sb-1 leaked: created by POST #1 at 1.2s, answered 202, never deleted, ended only by its timeout at 61.2s");
}

TEST_F(LedgerTest, DeletedSandboxesAreNoLeaksAndTheSummaryCountsAll) {
  Sandbox& deleted = Create(Answered(202));
  Create(Answered(202), {}, 60s);
  Create(Answered(202));
  store_.End(deleted, {.at = kStart + 2s, .request = 9});
  store_.AdvanceTo(kStart + 100s);
  const LedgerSummary summary = Summarise(store_);
  EXPECT_EQ(summary.created, 3u);
  EXPECT_EQ(summary.deleted, 1u);
  EXPECT_EQ(summary.expired, 1u);
  EXPECT_EQ(summary.live, 1u);
  std::vector<std::uint64_t> numbers;
  for (const LeakedSandbox& leak : FindLeaks(store_, journal_, kStart + 100s)) numbers.push_back(leak.number);
  EXPECT_THAT(numbers, ElementsAre(2, 3));
}

TEST_F(LedgerTest, WithoutSandboxesThereIsNothingToTell) { EXPECT_THAT(Sentences(), IsEmpty()); }

TEST_F(LedgerTest, TimesCountFromTheGivenStart) {
  Create(Answered(202));
  EXPECT_THAT(Sentences(kStart + 10s, kStart + 1s)[0], ::testing::HasSubstr("at 0.2s,"));
}

TEST_F(LedgerTest, ACreateThatTheJournalNoLongerKeepsIsStillNamed) {
  journal_ = Journal(1);
  Create(Answered(202));
  Note("GET", operation::kHealth, "", kStart, Answered(200));
  EXPECT_THAT(Sentences(), ElementsAre("sb-1 leaked: created by request #1 at 1.2s, never deleted"));
}

}  // namespace
}  // namespace opensandbox::emulator
