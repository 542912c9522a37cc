#include "emulator/faults/reorder_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

std::string Reordered(const ReorderFault& reorder, ReplyPlan plan, const Acted& acted = nullptr) {
  plan = ApplyReorder(reorder, std::move(plan), acted);
  return Played(plan);
}

TEST(ReorderFaultTest, BehindTheNext) {
  EXPECT_EQ(Reordered({.event = 1, .behind = 2}, StreamOfTexts({"one", "two", "three"})), "~|two|one|three|<complete>");
}

TEST(ReorderFaultTest, BehindTheLast) {
  EXPECT_EQ(Reordered({.event = 1, .behind = 3}, StreamOfTexts({"one", "two", "three"})), "~|two|three|one|<complete>");
}

TEST(ReorderFaultTest, WithoutTheLaterOneItComesLastAndHasNotActed) {
  const Acted acted = std::make_shared<bool>(false);
  EXPECT_EQ(Reordered({.event = 1, .behind = 9}, StreamOfTexts({"one", "two"}), acted), "~|two|~|one|<complete>");
  EXPECT_FALSE(*acted);
}

TEST(ReorderFaultTest, ALargeEventMovesWhole) {
  EXPECT_EQ(Reordered({.event = 1, .behind = 2},
                      StreamOf({Part("a", true, false), Part("b", false, true), BodyStep::Bytes("two")})),
            "~|~|two|a|b|<complete>");
}

TEST(ReorderFaultTest, AFixedBodyIsLeftAlone) { EXPECT_EQ(ApplyReorder({}, FixedOf("body")).body, "body"); }

}  // namespace
}  // namespace opensandbox::emulator
