#include <gmock/gmock.h>

#include <sstream>

#include "tests/unit/control/control_fixture.h"

namespace opensandbox::emulator {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ControlApiTest : public ControlTest {
 protected:
  std::vector<nlohmann::json> Lines(const Answer& answer) {
    EXPECT_EQ(answer.Head("content-type"), "application/x-ndjson");
    std::vector<nlohmann::json> lines;
    std::istringstream text(answer.body);
    for (std::string line; std::getline(text, line);) {
      lines.push_back(nlohmann::json::parse(line, nullptr, false));
      EXPECT_FALSE(lines.back().is_discarded()) << line;
    }
    return lines;
  }
  std::uint64_t Note(const std::string& tenant_name, JournalEntry entry) {
    const std::shared_ptr<Tenant> tenant = emulator_.registry.FindByName(tenant_name);
    std::lock_guard lock(tenant->mutex);
    return tenant->journal->Begin(std::move(entry));
  }
};

TEST_F(ControlApiTest, TenantIsCreatedThenReplaced) {
  AddTenant({});
  const Answer created =
      Send("PUT", "/tenants/team%20a", R"({"apiKey":"s3cret","seed":42,"clock":"virtual","strict":true})");
  EXPECT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created.json["name"], "team a");
  EXPECT_EQ(created.json["seed"], 42);
  EXPECT_EQ(created.json["clock"], "virtual");
  EXPECT_EQ(created.json["strict"], true);
  EXPECT_EQ(created.json["hasKey"], true);
  ASSERT_NE(emulator_.registry.FindByKey("s3cret"), nullptr);

  const Answer replaced = Send("PUT", "/tenants/team%20a", R"({"apiKey":"other","clock":"scale=2.5"})");
  EXPECT_EQ(replaced.status, 200);
  EXPECT_EQ(replaced.json["clock"], "scaled");
  EXPECT_EQ(replaced.json["seed"], 7);
  EXPECT_EQ(emulator_.registry.FindByKey("s3cret"), nullptr);
  EXPECT_EQ(Send("GET", "/tenants/team%20a/clock").json["factor"], 2.5);
}

TEST_F(ControlApiTest, TenantsOwnRealClockIsNotTheEmulators) {
  AddTenant({});
  EXPECT_EQ(Send("PUT", "/tenants/a", R"({"apiKey":"k","clock":"real"})").json["clock"], "real");
  EXPECT_EQ(Send("PUT", "/tenants/b", R"({"apiKey":"l"})").json["clock"], "virtual");
  EXPECT_EQ(emulator_.registry.FindByName("b")->clock, clock_);
}

TEST_F(ControlApiTest, KeysAreNeverShown) {
  AddTenant({});
  std::string shown = Send("PUT", "/tenants/a", R"({"apiKey":"s3cret"})").body;
  shown += Send("PUT", "/tenants/b", R"({"apiKey":"s3cret"})").body;
  shown += Send("PUT", "/tenants/b", R"({"apiKey":"s3cret with blank"})").body;
  shown += Send("PUT", "/tenants/b", R"({"apiKey":["s3cret"]})").body;
  for (const char* target : {"/", "/tenants", "/tenants/a", "/tenants/a/ledger", "/tenants/a/verdict"}) {
    shown += Send("GET", target).body;
  }
  EXPECT_THAT(shown, Not(HasSubstr("s3cret")));
}

TEST_F(ControlApiTest, BadTenantBodiesAreRefusedWithTheField) {
  AddTenant({});
  struct Row {
    const char* body;
    const char* part;
  };
  for (const Row& row : std::vector<Row>{
           {"", "the body is empty"},
           {" \n", "the body is empty"},
           {"{", "no valid JSON"},
           {"[]", "not an array"},
           {"null", "not null"},
           {"{}", "'apiKey' is missing"},
           {R"({"apiKey":1})", "'apiKey' must be a string, not an integer"},
           {R"({"apiKey":null})", "'apiKey' must be a string, not null"},
           {R"({"apiKey":"a b"})", "visible ASCII"},
           {R"({"apiKey":"k","seed":"1"})", "'seed' must be a whole number of 0 or more, not a string"},
           {R"({"apiKey":"k","seed":1.5})", "'seed' must be a whole number of 0 or more, not a number"},
           {R"({"apiKey":"k","seed":-1})", "'seed' must be 0 or more"},
           {R"({"apiKey":"k","clock":7})", "'clock' must be a string, not an integer"},
           {R"({"apiKey":"k","clock":"fast"})", "'clock' must be \"real\", \"virtual\" or \"scale=N\""},
           {R"({"apiKey":"k","clock":"scale=0"})", "'clock'"},
           {R"({"apiKey":"k","clock":"scale=-1"})", "'clock'"},
           {R"({"apiKey":"k","clock":"scale=nan"})", "'clock'"},
           {R"({"apiKey":"k","clock":"scale=1e7"})", "'clock'"},
           {R"({"apiKey":"k","clock":"scale=2x"})", "'clock'"},
           {R"({"apiKey":"k","strict":1})", "'strict' must be true or false, not an integer"},
           {R"({"apiKey":"k","scenario":7})", "'scenario' must be a scenario object"},
           {R"({"apiKey":"k","apikey":"k"})", "unknown field 'apikey'"},
       }) {
    const Answer answer = Send("PUT", "/tenants/a", row.body);
    EXPECT_EQ(answer.status, 400) << row.body;
    EXPECT_THAT(answer.error(), HasSubstr(row.part)) << row.body;
  }
  EXPECT_EQ(emulator_.registry.FindByName("a"), nullptr);
}

TEST_F(ControlApiTest, KeyOfAnotherTenantIsAConflict) {
  AddTenant({.name = "a", .api_key = "k"});
  EXPECT_EQ(Send("PUT", "/tenants/b", R"({"apiKey":"k"})").status, 409);
}

TEST_F(ControlApiTest, ScenarioComesAsObjectTextOrBody) {
  AddTenant({});
  const std::string object = R"({"schemaVersion":1,"name":"as-object"})";
  EXPECT_EQ(Send("PUT", "/tenants/a", R"({"apiKey":"k","scenario":)" + object + "}").json["scenario"]["name"],
            "as-object");
  const std::string text = R"("// a comment\n{\"schemaVersion\":1,\"name\":\"as-text\"}")";
  EXPECT_EQ(Send("PUT", "/tenants/a", R"({"apiKey":"k","scenario":)" + text + "}").json["scenario"]["name"], "as-text");
  Create("a");
  const Answer loaded = Send("PUT", "/tenants/a/scenario", "/* c */" + object);
  EXPECT_EQ(loaded.status, 200);
  EXPECT_EQ(loaded.json["scenario"]["name"], "as-object");
  EXPECT_EQ(loaded.json["sandboxes"]["created"], 0);  // a new world
  EXPECT_EQ(Send("PUT", "/scenario", object).json["name"], "default");
  const Answer back = Send("DELETE", "/tenants/a/scenario");
  EXPECT_EQ(back.status, 200);
  EXPECT_NE(back.json["scenario"]["name"], "as-object");
}

TEST_F(ControlApiTest, ScenarioProblemsAreAllTold) {
  AddTenant({});
  const std::string bad = "{\n\"schemaVersion\": 1,\n\"nmae\": \"x\",\n\"seed\": \"y\"\n}";
  const Answer answer = Send("PUT", "/scenario", bad);
  EXPECT_EQ(answer.status, 422);
  ASSERT_GE(answer.json["problems"].size(), 2u) << answer.body;
  EXPECT_EQ(answer.json["problems"][0]["line"].is_number(), true);
  EXPECT_THAT(answer.json["problems"][0]["text"].get<std::string>(), HasSubstr("scenario:"));
  EXPECT_EQ(Send("PUT", "/tenants/a", R"({"apiKey":"k","scenario":{"nmae":"x"}})").status, 422);
  EXPECT_EQ(emulator_.registry.FindByName("a"), nullptr);
  EXPECT_EQ(Send("PUT", "/scenario", "").status, 422);
}

TEST_F(ControlApiTest, TenantIsRemovedUnlessItIsTheLast) {
  AddTenant({});
  AddTenant({.name = "a", .api_key = "k"});
  EXPECT_EQ(Send("DELETE", "/tenants/a").status, 200);
  EXPECT_EQ(Send("DELETE", "/tenants/default").status, 409);
  EXPECT_EQ(Send("GET", "/tenants").json["tenants"].size(), 1u);
}

TEST_F(ControlApiTest, ShortFormsMeanTheDefaultTenant) {
  AddTenant({.name = "a", .api_key = "k"});
  AddTenant({});
  Create("default");
  for (const char* path : {"/ledger", "/leaks", "/verdict", "/clock", "/journal"}) {
    EXPECT_EQ(Send("GET", path).body, Send("GET", std::string("/tenants/default") + path).body) << path;
  }
  EXPECT_EQ(Send("GET", "/ledger").json["summary"]["live"], 1);
  EXPECT_EQ(Send("GET", "/tenants/a/ledger").json["summary"]["live"], 0);
  EXPECT_EQ(Send("POST", "/reset").json["name"], "default");
  EXPECT_EQ(Send("GET", "/ledger").json["summary"]["live"], 0);
}

TEST_F(ControlApiTest, LedgerTellsEachSandboxWithItsHistoryAndEnd) {
  AddTenant({});
  clock_->Advance(seconds(1));
  const std::string deleted = Create("default", {.image = "one", .metadata = {{"team", "x"}}}, 4);
  const std::string expired = Create("default", {.image = "two", .timeout = seconds(60)}, 5);
  const std::string live = Create("default", {.image = "three"}, 6);
  {
    const auto tenant = emulator_.registry.FindByName("default");
    std::lock_guard lock(tenant->mutex);
    clock_->Advance(std::chrono::milliseconds(1500));
    tenant->store->End(*tenant->store->Find(deleted), {.at = clock_->Now(), .request = 9});
  }
  clock_->Advance(seconds(100));
  const Answer answer = Send("GET", "/ledger");
  EXPECT_EQ(answer.json["summary"], nlohmann::json({{"created", 3}, {"deleted", 1}, {"expired", 1}, {"live", 1}}));
  const auto& rows = answer.json["sandboxes"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["id"], deleted);
  EXPECT_EQ(rows[0]["image"], "one");
  EXPECT_EQ(rows[0]["createdBy"], 4);
  EXPECT_EQ(rows[0]["createdAt"], 1.0);
  EXPECT_EQ(rows[0]["metadata"]["team"], "x");
  EXPECT_EQ(rows[0]["end"], nlohmann::json({{"by", "delete"}, {"at", 2.5}, {"request", 9}}));
  EXPECT_EQ(rows[0]["expiresAt"], nullptr);
  EXPECT_EQ(rows[1]["id"], expired);
  EXPECT_EQ(rows[1]["expiresAt"], 61.0);
  EXPECT_EQ(rows[1]["end"], nlohmann::json({{"by", "expiry"}, {"at", 61.0}}));
  EXPECT_EQ(rows[2]["id"], live);
  EXPECT_EQ(rows[2]["end"], nullptr);
  ASSERT_EQ(rows[2]["history"].size(), 1u);
  EXPECT_EQ(rows[2]["history"][0]["state"], "Running");

  const Answer page = Send("GET", "/ledger?after=1&limit=1");
  ASSERT_EQ(page.json["sandboxes"].size(), 1u);
  EXPECT_EQ(page.json["sandboxes"][0]["number"], 2);
  EXPECT_EQ(page.json["summary"]["created"], 3);
}

TEST_F(ControlApiTest, JournalIsJsonLinesInPages) {
  AddTenant({});
  clock_->Advance(seconds(2));
  JournalEntry entry;
  entry.operation = operation::kGetSandbox;
  entry.method = "GET";
  entry.target = "/v1/sandboxes/\xff";
  entry.rules = {"flaky"};
  entry.received = clock_->Now();
  for (int i = 0; i < 3; ++i) Note("default", entry);
  {
    const auto tenant = emulator_.registry.FindByName("default");
    std::lock_guard lock(tenant->mutex);
    tenant->journal->Finish(1, {.status = 200, .body_bytes = 5, .ending = Ending::kRst, .at = clock_->Now()});
  }
  const Answer answer = Send("GET", "/journal");
  EXPECT_EQ(answer.Head("journal-total"), "3");
  EXPECT_EQ(answer.Head("journal-dropped"), "0");
  const auto lines = Lines(answer);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["number"], 1);
  EXPECT_EQ(lines[0]["at"], 2.0);
  EXPECT_EQ(lines[0]["operation"], "getSandbox");
  EXPECT_EQ(lines[0]["target"], "/v1/sandboxes/\xEF\xBF\xBD");
  EXPECT_EQ(lines[0]["rules"], nlohmann::json({"flaky"}));
  EXPECT_EQ(lines[0]["end"]["status"], 200);
  EXPECT_EQ(lines[0]["end"]["ending"], std::string(ToString(Ending::kRst)));
  EXPECT_EQ(lines[1]["end"], nullptr);

  const auto numbers = [&](const char* query) {
    std::vector<int> list;
    for (const auto& line : Lines(Send("GET", std::string("/journal?") + query))) list.push_back(line["number"]);
    return list;
  };
  EXPECT_THAT(numbers("after=1"), ElementsAre(2, 3));
  EXPECT_THAT(numbers("limit=2"), ElementsAre(1, 2));
  EXPECT_THAT(numbers("after=1&limit=1"), ElementsAre(2));
  EXPECT_THAT(numbers("after=3"), ElementsAre());
  EXPECT_THAT(numbers("limit=0"), ElementsAre());
  for (const char* query : {"after=-1", "after=x", "after=", "limit=1.5", "limit=99999999999999999999", "after=1x"}) {
    const Answer refused = Send("GET", std::string("/journal?") + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_THAT(refused.error(), HasSubstr("the query parameter '")) << query;
  }
}

TEST_F(ControlApiTest, RejectedRequestsAreJsonLines) {
  AddTenant({.name = "a", .api_key = "k"});
  JournalEntry entry;
  entry.number = 1;
  entry.target = "/v1/sandboxes";
  entry.committed = false;
  emulator_.rejected.push_back(entry);
  const auto lines = Lines(Send("GET", "/rejected"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["target"], "/v1/sandboxes");
  EXPECT_EQ(lines[0]["committed"], false);
  EXPECT_TRUE(Lines(Send("GET", "/rejected?after=1")).empty());
}

TEST_F(ControlApiTest, LeaksAreSentences) {
  AddTenant({});
  const std::string id = Create("default", {.image = "i"}, 1);
  clock_->Advance(seconds(5));
  const Answer answer = Send("GET", "/leaks");
  EXPECT_EQ(answer.json["count"], 1);
  EXPECT_EQ(answer.json["leaks"][0]["id"], id);
  EXPECT_EQ(answer.json["leaks"][0]["age"], 5.0);
  EXPECT_THAT(answer.json["leaks"][0]["sentence"].get<std::string>(),
              AllOf(HasSubstr("sb-1 leaked"), HasSubstr("never deleted")));
}

TEST_F(ControlApiTest, VerdictSaysWhyItFailed) {
  AddTenant({});
  EXPECT_EQ(Send("GET", "/verdict").json["passed"], true);
  Create("default");
  const Answer answer = Send("GET", "/verdict");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json["passed"], false);
  EXPECT_FALSE(answer.json["failures"].empty());
  EXPECT_EQ(answer.json["sandboxes"]["live"], 1);
}

TEST_F(ControlApiTest, ClockTellsWhatItWaitsFor) {
  AddTenant({});
  Create("default", {.image = "i", .timeout = seconds(90)});
  clock_->Advance(seconds(30));
  const Answer answer = Send("GET", "/clock");
  EXPECT_EQ(answer.json["mode"], "virtual");
  EXPECT_EQ(answer.json["now"], "2026-01-01T00:00:30.000000000Z");
  EXPECT_EQ(answer.json["elapsed"], 30.0);
  EXPECT_EQ(answer.json["locked"], false);
  ASSERT_EQ(answer.json["waitsFor"].size(), 1u);
  EXPECT_EQ(answer.json["waitsFor"][0]["in"], 60.0);
}

TEST_F(ControlApiTest, ClockIsLockedUnlockedAndAdvanced) {
  AddTenant({});
  Create("default", {.image = "i", .timeout = seconds(60)});
  const Answer advanced = Send("POST", "/clock/advance", R"({"by":"59.5s"})");
  EXPECT_EQ(advanced.status, 200);
  EXPECT_EQ(advanced.json["elapsed"], 59.5);
  EXPECT_EQ(Send("GET", "/ledger").json["summary"]["live"], 1);
  EXPECT_EQ(Send("POST", "/clock/lock").json["locked"], true);
  const Answer held = Send("POST", "/clock/advance", R"({"by":"1s"})");
  EXPECT_EQ(held.status, 409);
  EXPECT_THAT(held.error(), HasSubstr("locked"));
  EXPECT_EQ(Send("POST", "/clock/unlock").json["locked"], false);
  EXPECT_EQ(Send("POST", "/clock/unlock").status, 409);
  EXPECT_EQ(Send("POST", "/clock/advance", R"({"by":"500ms"})").status, 200);
  EXPECT_EQ(Send("GET", "/ledger").json["summary"]["live"], 0);
}

TEST_F(ControlApiTest, BadAdvancesAreRefusedWithTheField) {
  AddTenant({});
  struct Row {
    const char* body;
    const char* part;
  };
  for (const Row& row : std::vector<Row>{{"", "the body is empty"},
                                         {"x", "no valid JSON"},
                                         {"{}", "'by' is missing"},
                                         {R"({"by":30})", "'by' must be a duration such as \"30s\", not an integer"},
                                         {R"({"by":"30"})", "'by' must be a duration"},
                                         {R"({"by":"-1s"})", "'by' must be a duration"},
                                         {R"({"by":"36501d"})", "hundred years"},
                                         {R"({"by":"1s","to":"2s"})", "unknown field 'to'"}}) {
    const Answer answer = Send("POST", "/clock/advance", row.body);
    EXPECT_EQ(answer.status, 400) << row.body;
    EXPECT_THAT(answer.error(), HasSubstr(row.part)) << row.body;
  }
  EXPECT_EQ(clock_->Elapsed(), Duration::zero());
  EXPECT_EQ(Send("POST", "/clock/advance", R"({"by":"36500d"})").status, 200);
  EXPECT_EQ(Send("POST", "/clock/advance", R"({"by":"1ns"})").status, 400);
}

TEST_F(ControlApiTest, OnlyAVirtualClockIsDriven) {
  AddTenant({.clock = std::make_shared<ScaledClock>(3)});
  EXPECT_EQ(Send("GET", "/clock").json["mode"], "scaled");
  for (const char* verb : {"lock", "unlock", "advance"}) {
    const Answer answer = Send("POST", std::string("/clock/") + verb, R"({"by":"1s"})");
    EXPECT_EQ(answer.status, 409) << verb;
    EXPECT_THAT(answer.error(), HasSubstr("not virtual")) << verb;
  }
}

}  // namespace
}  // namespace opensandbox::emulator
