#include "emulator/faults/respond_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

using testing::ElementsAre;
using testing::Not;

// 30 November 2026, 21:53:39 UTC.
constexpr WallTime kNow{std::chrono::seconds(1796075619)};

FaultContext Context(bool execd_style = false) {
  return {.wall_now = kNow, .request_id = "0123456789abcdef0123456789abcdef", .execd_style = execd_style};
}

// The head as it would stand on the wire.
std::vector<std::string> Head(const ReplyPlan& plan) {
  std::vector<std::string> lines;
  for (const Header& header : plan.headers) lines.push_back(header.name + ": " + header.value);
  return lines;
}

TEST(RespondFaultTest, LooksLikeTheLifecycleServersAnswer) {
  Respond respond;
  respond.status = 503;
  respond.retry_after = "2";
  const ReplyPlan plan = ApplyRespond(respond, FixedOf("good"), Context());
  EXPECT_EQ(plan.status, 503);
  EXPECT_EQ(plan.body, R"({"code":"GENERAL::UNKNOWN_ERROR","message":"Service Unavailable"})");
  EXPECT_THAT(Head(plan), ElementsAre("date: Mon, 30 Nov 2026 21:53:39 GMT", "server: uvicorn", "content-length: 65",
                                      "content-type: application/json",
                                      "x-request-id: 0123456789abcdef0123456789abcdef", "retry-after: 2"));
}

TEST(RespondFaultTest, LooksLikeExecdsAnswer) {
  Respond respond;
  respond.status = 500;
  const ReplyPlan plan = ApplyRespond(respond, StreamOfTexts({"a"}), Context(true));
  EXPECT_EQ(plan.source, nullptr);
  EXPECT_FALSE(plan.chunked);
  EXPECT_EQ(plan.body, R"({"code":"RUNTIME_ERROR","message":"Internal Server Error"})");
  EXPECT_THAT(Head(plan), ElementsAre("Content-Type: application/json; charset=utf-8",
                                      "Date: Mon, 30 Nov 2026 21:53:39 GMT", "Content-Length: 58"));
}

TEST(RespondFaultTest, AGivenBodyIsSentAsItIs) {
  Respond respond;
  respond.status = 200;
  respond.body = "<html>\n";
  respond.content_type = "text/html";
  const ReplyPlan plan = ApplyRespond(respond, FixedOf("good"), Context());
  EXPECT_EQ(plan.body, "<html>\n");
  EXPECT_THAT(Head(plan), testing::IsSupersetOf({"content-length: 7", "content-type: text/html"}));
}

TEST(RespondFaultTest, AnEmptyBodyAndASuccessStayEmpty) {
  Respond respond;
  respond.status = 500;
  respond.body = "";
  EXPECT_EQ(ApplyRespond(respond, FixedOf("good"), Context()).body, "");
  respond.status = 200;
  respond.body.reset();
  const ReplyPlan plan = ApplyRespond(respond, FixedOf("good"), Context());
  EXPECT_EQ(plan.body, "");
  EXPECT_THAT(Head(plan), testing::Contains("content-length: 0"));
}

TEST(RespondFaultTest, NoContentHasNoHeadersOfContent) {
  Respond respond;
  respond.status = 204;
  EXPECT_THAT(Head(ApplyRespond(respond, FixedOf("x"), Context())),
              ElementsAre("date: Mon, 30 Nov 2026 21:53:39 GMT", "server: uvicorn",
                          "x-request-id: 0123456789abcdef0123456789abcdef"));
}

TEST(RespondFaultTest, GivenHeadersReplaceStandardOnesInPlaceAndOthersFollow) {
  Respond respond;
  respond.body = "12345";
  respond.headers = {{"X-New", "1"}, {"Content-Length", "99"}, {"Set-Cookie", "a"}, {"Set-Cookie", "b"}, {"Date", "x"}};
  EXPECT_THAT(
      Head(ApplyRespond(respond, FixedOf("x"), Context())),
      ElementsAre("Date: x", "server: uvicorn", "Content-Length: 99", "content-type: application/json",
                  "x-request-id: 0123456789abcdef0123456789abcdef", "X-New: 1", "Set-Cookie: a", "Set-Cookie: b"));
}

TEST(RespondFaultTest, AnEmptyContentTypeIsNoHeader) {
  Respond respond;
  respond.content_type = "";
  EXPECT_THAT(Head(ApplyRespond(respond, FixedOf("x"), Context())),
              Not(testing::Contains(testing::StartsWith("content-type"))));
}

TEST(RespondFaultTest, TheSurfacesEndOfExchangeIsKept) {
  ReplyPlan plan = FixedOf("x");
  int ends = 0;
  plan.on_end = [&](const ExchangeEnd&) { ++ends; };
  ReplyPlan reply = ApplyRespond(Respond{}, std::move(plan), Context());
  ASSERT_TRUE(reply.on_end);
  reply.on_end({});
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace opensandbox::emulator
