#include "emulator/faults/header_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

std::string Fields(const std::vector<HeaderEdit>& edits) {
  ReplyPlan plan;
  plan.headers = {{"content-type", "a"}, {"server", "b"}, {"X-Twice", "1"}, {"x-twice", "2"}};
  plan = ApplyHeaders(edits, std::move(plan));
  std::string text;
  for (const Header& header : plan.headers) text += header.name + "=" + header.value + " ";
  return text;
}

TEST(HeaderFaultTest, AnotherValueStandsWhereTheOldOneStood) {
  EXPECT_EQ(Fields({{"Content-Type", {"z"}}}), "Content-Type=z server=b X-Twice=1 x-twice=2 ");
}

TEST(HeaderFaultTest, AllFieldsOfTheNameGo) { EXPECT_EQ(Fields({{"X-TWICE", {}}}), "content-type=a server=b "); }

TEST(HeaderFaultTest, NewOnesComeLast) {
  EXPECT_EQ(Fields({{"A", {"1", "2"}}}), "content-type=a server=b X-Twice=1 x-twice=2 A=1 A=2 ");
}

}  // namespace
}  // namespace opensandbox::emulator
