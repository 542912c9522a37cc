#include "tests/unit/service/service_fixture.h"

namespace opensandbox::emulator {
namespace {

std::string CodeOf(const ReplyPlan& plan) {
  const auto json = nlohmann::json::parse(plan.body, nullptr, false);
  return json.is_object() ? json.value("code", "") : "";
}

class DispatcherAuthTest : public ServiceTest {};

TEST_F(DispatcherAuthTest, KeylessServerLetsEveryKeyAndNoneThrough) {
  AddKeyless();
  EXPECT_EQ(Send(CreateRequest("")).status, 202);
  EXPECT_EQ(Send(CreateRequest("whatever")).status, 202);
  EXPECT_EQ(LiveOf("default"), 2u);
}

TEST_F(DispatcherAuthTest, MissingKeyIsRefusedBeforeRouting) {
  AddTenant("a");
  for (const char* target : {"/v1/sandboxes", "/no/such/route", "/v1/sandboxes/"}) {
    const ReplyPlan plan = Send(MakeRequest("GET", target));
    EXPECT_EQ(plan.status, 401) << target;
    EXPECT_EQ(CodeOf(plan), "MISSING_API_KEY") << target;
  }
  const ReplyPlan blank = Send(MakeRequest("GET", "/v1/sandboxes", {.headers = {{"OPEN-SANDBOX-API-KEY", ""}}}));
  EXPECT_EQ(CodeOf(blank), "MISSING_API_KEY");
}

TEST_F(DispatcherAuthTest, WrongKeyIsRefused) {
  AddTenant("a");
  const ReplyPlan plan = Send(CreateRequest("key-b"));
  EXPECT_EQ(plan.status, 401);
  EXPECT_EQ(CodeOf(plan), "INVALID_API_KEY");
  EXPECT_EQ(LiveOf("a"), 0u);
}

TEST_F(DispatcherAuthTest, OnceATenantHasAKeyWrongOnesAreRefusedAndNoneMeansTheKeyless) {
  AddKeyless();
  AddTenant("a");
  EXPECT_EQ(Send(CreateRequest("wrong")).status, 401);
  EXPECT_EQ(Send(CreateRequest("")).status, 202);
  EXPECT_EQ(Send(CreateRequest("key-a")).status, 202);
  EXPECT_EQ(LiveOf("default"), 1u);
  EXPECT_EQ(LiveOf("a"), 1u);
}

TEST_F(DispatcherAuthTest, HealthNeedsNoKey) {
  AddTenant("a");
  EXPECT_EQ(Send(MakeRequest("GET", "/health")).status, 200);
}

TEST_F(DispatcherAuthTest, RefusedRequestCountsInNoRule) {
  AddTenant("a", Parse(R"("faults": [{"id": "once", "on": "createSandbox", "first": 1, "respond": {"status": 503}}])"));
  EXPECT_EQ(Send(CreateRequest("")).status, 401);
  EXPECT_EQ(Send(CreateRequest("wrong")).status, 401);
  EXPECT_EQ(FiredOf("a", "once"), 0u);
  EXPECT_EQ(Send(CreateRequest("key-a")).status, 503);
  EXPECT_EQ(FiredOf("a", "once"), 1u);
  EXPECT_EQ(Send(CreateRequest("key-a")).status, 202);
}

TEST_F(DispatcherAuthTest, RefusedRequestIsJournalledInTheOnlyTenant) {
  AddTenant("a");
  Send(CreateRequest("wrong"));
  const std::vector<JournalEntry> entries = JournalOf("a");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].operation, operation::kCreateSandbox);
  EXPECT_FALSE(entries[0].committed);
  ASSERT_TRUE(entries[0].end.has_value());
  EXPECT_EQ(entries[0].end->status, 401);
  EXPECT_TRUE(dispatcher_.RejectedRequests().empty());
}

TEST_F(DispatcherAuthTest, RefusedRequestOfNobodyIsJournalledForTheServer) {
  AddTenant("a");
  AddTenant("b");
  const ReplyPlan plan = Send(CreateRequest("wrong"));
  EXPECT_EQ(plan.status, 401);
  EXPECT_TRUE(JournalOf("a").empty());
  EXPECT_TRUE(JournalOf("b").empty());
  const std::vector<JournalEntry> entries = dispatcher_.RejectedRequests();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].target, "/v1/sandboxes");
  ASSERT_TRUE(entries[0].end.has_value());
  EXPECT_EQ(entries[0].end->status, 401);
}

TEST_F(DispatcherAuthTest, RefusedRequestForASandboxIsJournalledInItsTenant) {
  AddTenant("a");
  AddTenant("b");
  const std::string id = Create("key-b");
  EXPECT_EQ(Send(MakeRequest("DELETE", "/v1/sandboxes/" + id, {.key = "wrong"})).status, 401);
  EXPECT_EQ(LiveOf("b"), 1u);
  ASSERT_EQ(JournalOf("b").size(), 2u);
  EXPECT_EQ(JournalOf("b")[1].sandbox_id, id);
  EXPECT_TRUE(dispatcher_.RejectedRequests().empty());
}

TEST_F(DispatcherAuthTest, RefusalEchoesOrMakesTheRequestId) {
  AddTenant("a");
  ReplyPlan echoed = Send(MakeRequest("GET", "/v1/sandboxes", {.headers = {{"x-request-ID", " my id "}}}));
  ASSERT_NE(echoed.Find("x-request-id"), nullptr);
  EXPECT_EQ(echoed.Find("x-request-id")->value, "my id");
  ReplyPlan made = Send(MakeRequest("GET", "/v1/sandboxes"));
  ASSERT_NE(made.Find("x-request-id"), nullptr);
  EXPECT_EQ(made.Find("x-request-id")->value.size(), 32u);
  EXPECT_EQ(made.Find("x-request-id")->value.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(DispatcherAuthTest, AnotherTenantsSandboxDoesNotExist) {
  AddTenant("a");
  AddTenant("b");
  const std::string id = Create("key-a");
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + id, {.key = "key-b"})).status, 404);
  EXPECT_EQ(Send(MakeRequest("DELETE", "/v1/sandboxes/" + id, {.key = "key-b"})).status, 404);
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + id, {.key = "key-a"})).status, 200);
}

}  // namespace
}  // namespace opensandbox::emulator
