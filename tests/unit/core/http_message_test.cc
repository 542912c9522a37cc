#include "emulator/core/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulator/core/operation.h"
#include "emulator/core/reply_plan.h"
#include "opensandbox/base/random.h"

namespace opensandbox::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(HttpMessageTest, HeadersAreFoundWithoutCaseAndTheFirstCounts) {
  Request request;
  request.headers = {{"Host", "x"}, {"X-Thing", "1"}, {"x-thing", "2"}, {"Empty", ""}};
  EXPECT_EQ(request.FindHeader("X-THING"), "1");
  EXPECT_EQ(request.FindHeader("empty"), "");
  EXPECT_EQ(request.FindHeader("thing"), std::nullopt);
}

TEST(HttpMessageTest, QueriesKeepOrderRepeatsAndEmptyValues) {
  EXPECT_THAT(ParseQuery("a=1&b=x+y%26z&a=%C3%A4&&c&d=&=e&f=1=2"),
              ElementsAre(Pair("a", "1"), Pair("b", "x y&z"), Pair("a", "\xc3\xa4"), Pair("c", ""), Pair("d", ""),
                          Pair("", "e"), Pair("f", "1=2")));
  EXPECT_THAT(ParseQuery(""), IsEmpty());
  Request request;
  request.query = "state=Running&page=2&state=Paused&st%61te=Failed";
  EXPECT_THAT(request.QueryValues("state"), ElementsAre("Running", "Paused", "Failed"));
  EXPECT_EQ(request.QueryValue("page"), "2");
  EXPECT_EQ(request.QueryValue("size"), std::nullopt);
}

TEST(HttpMessageTest, SegmentsAreSplitBeforeTheyAreDecoded) {
  EXPECT_THAT(PathSegments("/v1/a%2Fb"), ElementsAre("v1", "a/b"));
  EXPECT_THAT(PathSegments("/v1/"), ElementsAre("v1", ""));
  EXPECT_THAT(PathSegments("/"), ElementsAre(""));
  EXPECT_THAT(PathSegments(""), IsEmpty());
  EXPECT_THAT(PathSegments("//a+b"), ElementsAre("", "a+b"));
}

TEST(HttpMessageTest, BrokenPercentSignsStayAsTheyAre) {
  EXPECT_EQ(PercentDecode("%", false), "%");
  EXPECT_EQ(PercentDecode("%4", false), "%4");
  EXPECT_EQ(PercentDecode("%zz%41%6", false), "%zzA%6");
  EXPECT_EQ(PercentDecode("a+b", false), "a+b");
  EXPECT_EQ(PercentDecode("%00", false), std::string(1, '\0'));
}

TEST(HttpMessageTest, EncodingIsUndoneByDecoding) {
  EXPECT_EQ(PercentEncode("a b/ä~"), "a%20b%2F%C3%A4~");
  SeededRandom random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (std::uint64_t n = random.Below(20); n > 0; --n) text.push_back(static_cast<char>(random.Below(256)));
    ASSERT_EQ(PercentDecode(PercentEncode(text), i % 2 == 0), text);
  }
}

TEST(HttpMessageTest, ALongPathIsSplitWithoutRecursion) {
  const std::string path = [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "/a";
    return text;
  }();
  EXPECT_EQ(PathSegments(path).size(), 100000u);
}

TEST(ReplyPlanTest, SetBodyReplacesBodySourceAndLengthOnly) {
  ReplyPlan plan;
  plan.headers = {{"content-LENGTH", "5"}, {"X", "1"}};
  plan.body = "hello";
  plan.SetBody("hi");
  EXPECT_EQ(plan.body, "hi");
  EXPECT_THAT(plan.headers, ElementsAre(Header{"content-LENGTH", "2"}, Header{"X", "1"}));
  ReplyPlan without;
  without.SetBody("hi");
  EXPECT_THAT(without.headers, IsEmpty());
  EXPECT_EQ(plan.Find("x")->value, "1");
  EXPECT_EQ(plan.Find("Y"), nullptr);
}

TEST(ReplyPlanTest, AStepIsAWholeEventUnlessItSaysOtherwise) {
  const BodyStep step = BodyStep::Bytes("x");
  EXPECT_EQ(step.kind, BodyStep::Kind::kBytes);
  EXPECT_TRUE(step.begins_event);
  EXPECT_TRUE(step.ends_event);
  EXPECT_TRUE(step.flush);
  EXPECT_FALSE(step.raw);
  EXPECT_EQ(BodyStep::Wait(TimePoint{}).until, TimePoint{});
  EXPECT_EQ(BodyStep::End(Ending::kRst).ending, Ending::kRst);
}

TEST(ReplyPlanTest, KnowsTheStandardPhrases) {
  EXPECT_EQ(StandardReason(200), "OK");
  EXPECT_EQ(StandardReason(404), "Not Found");
  EXPECT_EQ(StandardReason(422), "Unprocessable Content");
  EXPECT_EQ(StandardReason(429), "Too Many Requests");
  EXPECT_EQ(StandardReason(599), "");
}

TEST(ReplyPlanTest, EveryEndingHasAName) {
  EXPECT_EQ(ToString(Ending::kComplete), "complete");
  EXPECT_EQ(ToString(Ending::kClean), "clean");
  EXPECT_EQ(ToString(Ending::kNoTerminator), "noTerminator");
  EXPECT_EQ(ToString(Ending::kFin), "fin");
  EXPECT_EQ(ToString(Ending::kRst), "rst");
  EXPECT_EQ(ToString(Ending::kSilence), "silence");
}

TEST(OperationTest, NamesAreUniqueAndKnown) {
  std::vector<std::string> names = operation::All();
  EXPECT_EQ(names.size(), 20u);
  for (const std::string& name : names) EXPECT_TRUE(operation::IsKnown(name)) << name;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_FALSE(operation::IsKnown(operation::kUnknown));
  EXPECT_FALSE(operation::IsKnown("RunCode"));
}

}  // namespace
}  // namespace opensandbox::emulator
