#include "emulator/faults/patch_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

TEST(PatchFaultTest, MembersChangeComeAndGoInOrder) {
  const ReplyPlan plan = ApplyPatch(R"({"b":{"y":2},"c":null,"d":[1]})", FixedOf(R"({"a":1,"b":{"x":1,"y":1},"c":3})"));
  EXPECT_EQ(plan.body, R"({"a":1,"b":{"x":1,"y":2},"d":[1]})");
  EXPECT_EQ(plan.headers[0].value, std::to_string(plan.body.size()));
}

TEST(PatchFaultTest, WhatIsNoObjectIsLeftAloneAndTold) {
  for (const char* body : {"[1]", "no JSON", ""}) {
    const Acted acted = std::make_shared<bool>(false);
    EXPECT_EQ(ApplyPatch(R"({"a":1})", FixedOf(body), acted).body, body);
    EXPECT_FALSE(*acted) << body;
  }
}

TEST(PatchFaultTest, TellsThatItActed) {
  const Acted acted = std::make_shared<bool>(false);
  ApplyPatch(R"({"a":1})", FixedOf("{}"), acted);
  EXPECT_TRUE(*acted);
}

}  // namespace
}  // namespace opensandbox::emulator
