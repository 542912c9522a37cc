#include "emulator/faults/cut_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

CutFault AtEvent(std::uint64_t event, std::optional<std::uint64_t> byte = std::nullopt, Ending how = Ending::kFin) {
  CutFault cut;
  cut.at_event = event;
  cut.at_byte = byte;
  cut.how = how;
  return cut;
}

CutFault InCharacter(std::uint64_t event) {
  CutFault cut = AtEvent(event);
  cut.in_character = true;
  return cut;
}

std::string CutStream(const CutFault& cut, const std::vector<std::string>& events) {
  ReplyPlan plan = ApplyCut(cut, StreamOfTexts(events));
  EXPECT_FALSE(plan.cut);
  return Played(plan);
}

TEST(CutFaultTest, PlacesInTheHeadAndAtAByteAreTheExecutors) {
  CutFault cut;
  cut.before_headers = true;
  cut.how = Ending::kRst;
  ReplyPlan plan = ApplyCut(cut, FixedOf("abc"));
  ASSERT_TRUE(plan.cut);
  EXPECT_EQ(plan.cut->at, Cut::At::kBeforeHead);
  EXPECT_EQ(plan.cut->ending, Ending::kRst);

  cut = CutFault{};
  cut.after_headers = true;
  plan = ApplyCut(cut, FixedOf("abc"));
  EXPECT_EQ(plan.cut->at, Cut::At::kAfterHead);
  EXPECT_EQ(plan.cut->ending, Ending::kFin);

  cut = CutFault{};
  cut.at_byte = 2;
  plan = ApplyCut(cut, StreamOfTexts({"abc"}));
  EXPECT_EQ(plan.cut->at, Cut::At::kBodyByte);
  EXPECT_EQ(plan.cut->bytes, 2u);
}

TEST(CutFaultTest, AfterWholeEvents) {
  EXPECT_EQ(CutStream(AtEvent(0), {"one", "two"}), "<fin>");
  EXPECT_EQ(CutStream(AtEvent(1), {"one", "two"}), "one|<fin>");
  EXPECT_EQ(CutStream(AtEvent(2, std::nullopt, Ending::kRst), {"one", "two", "three"}), "one|two|<rst>");
}

TEST(CutFaultTest, InsideAnEvent) {
  EXPECT_EQ(CutStream(AtEvent(1, 1), {"one", "two"}), "one|t|<fin>");
  EXPECT_EQ(CutStream(AtEvent(1, 3), {"one", "two", "three"}), "one|two|<fin>");
  EXPECT_EQ(CutStream(AtEvent(1, 0), {"one", "two"}), "one|<fin>");
}

TEST(CutFaultTest, AnEventShorterThanThePlaceEndsThere) {
  EXPECT_EQ(CutStream(AtEvent(1, 9), {"one", "two", "three"}), "one|two|<fin>");
}

TEST(CutFaultTest, AStreamThatEndsBeforeIsNotCut) {
  EXPECT_EQ(CutStream(AtEvent(3), {"one", "two"}),
            std::string("one|two|<") + std::string(ToString(Ending::kComplete)) + ">");
}

TEST(CutFaultTest, ThePartsOfALargeEventAreOneEvent) {
  const auto stream = [] {
    return StreamOf({Part("one", true, true), Part("two-", true, false), Part("2-", false, false),
                     Part("2", false, true), Part("three", true, true)});
  };
  ReplyPlan plan = ApplyCut(AtEvent(2), stream());
  EXPECT_EQ(Played(plan), "one|two-|2-|2|<fin>");
  plan = ApplyCut(AtEvent(1, 5), stream());
  EXPECT_EQ(Played(plan), "one|two-|2|<fin>");
  plan = ApplyCut(AtEvent(1, 50), stream());
  EXPECT_EQ(Played(plan), "one|two-|2-|2|<fin>");
}

TEST(CutFaultTest, WaitsPassThrough) {
  ReplyPlan plan = ApplyCut(AtEvent(1), StreamOf({BodyStep::Wait(TimePoint{}), BodyStep::Bytes("one"),
                                                  BodyStep::Wait(TimePoint{}), BodyStep::Bytes("two")}));
  EXPECT_EQ(Played(plan), "~|one|<fin>");
}

TEST(CutFaultTest, InsideACharacterOneByteOfItIsSent) {
  EXPECT_EQ(CutStream(InCharacter(1), {"\xC3\xA9",
                                       "a\xE2\x82\xAC"
                                       "b",
                                       "c"}),
            "\xC3\xA9|a\xE2|<fin>");
}

TEST(CutFaultTest, InsideACharacterLooksOnUntilThereIsOne) {
  EXPECT_EQ(CutStream(InCharacter(0), {"plain", "still", "d\xC3\xA9j\xC3\xA0"}), "plain|still|d\xC3|<fin>");
}

TEST(CutFaultTest, TheWakerAndTheClientsCloseReachTheSource) {
  auto source = std::make_unique<ListedSource>(std::vector<BodyStep>{});
  ListedSource* inner = source.get();
  ReplyPlan plan;
  plan.source = std::move(source);
  plan = ApplyCut(AtEvent(1), std::move(plan));
  plan.source->BindWaker(nullptr);
  plan.source->ClientClosed(TimePoint{});
  EXPECT_TRUE(inner->bound_);
  EXPECT_EQ(inner->closed_, 1);
}

}  // namespace
}  // namespace opensandbox::emulator
