#include "emulator/service/tenant_registry.h"

#include <gmock/gmock.h>

#include "emulator/scenario/loader.h"
#include "opensandbox/base/virtual_clock.h"
#include "tests/support/matchers.h"

namespace opensandbox::emulator {
namespace {

using ::opensandbox::testing::FailsWith;
using ::opensandbox::testing::IsOk;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

auto Refused(int status, const char* part) {
  return FailsWith(ErrorKind::kInvalidArgument,
                   AllOf(Field(&Error::http_status, status), Field(&Error::message, HasSubstr(part))));
}

class TenantRegistryTest : public ::testing::Test {
 protected:
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  TenantRegistry registry_{{.clock = clock_, .seed = 7, .tenants_max = 3}};

  // A sandbox made as the lifecycle surface would.
  std::string Create(const std::string& tenant_name, std::optional<Duration> timeout = std::nullopt) {
    const std::shared_ptr<Tenant> tenant = registry_.FindByName(tenant_name);
    std::lock_guard lock(tenant->mutex);
    const Sandbox* sandbox =
        tenant->store->Create({.image = "i", .timeout = timeout}, {}, 1, clock_->Now(), clock_->WallNow());
    registry_.NoteSandbox(sandbox->id, tenant);
    return sandbox->id;
  }
};

TEST_F(TenantRegistryTest, FindsByNameKeyAndSandbox) {
  ASSERT_THAT(registry_.Add({.name = "b", .api_key = "kb"}), IsOk());
  ASSERT_THAT(registry_.Add({.name = "a", .api_key = "ka"}), IsOk());
  EXPECT_THAT(registry_.Names(), ElementsAre("a", "b"));
  EXPECT_EQ(registry_.FindByName("a"), registry_.FindByKey("ka"));
  EXPECT_EQ(registry_.FindByKey(""), nullptr);
  EXPECT_EQ(registry_.FindByKey("kc"), nullptr);
  EXPECT_EQ(registry_.FindBySandbox(Create("a")), registry_.FindByName("a"));
  EXPECT_EQ(registry_.FindBySandbox("none"), nullptr);
  EXPECT_EQ(registry_.Fallback(), registry_.FindByName("b"));  // the first one added
  ASSERT_THAT(registry_.Add({}), IsOk());
  EXPECT_EQ(registry_.Fallback(), registry_.FindByName("default"));
  EXPECT_EQ(registry_.Keyless(), registry_.FindByName("default"));
}

TEST_F(TenantRegistryTest, TenantsAreBounded) {
  for (const char* name : {"a", "b", "c"}) ASSERT_THAT(registry_.Add({.name = name, .api_key = name}), IsOk());
  EXPECT_THAT(registry_.Add({.name = "d", .api_key = "d"}), Refused(429, "already 3 tenants"));
  EXPECT_THAT(registry_.Put({.name = "c", .api_key = "c2"}), IsOk());  // a replacement is not one more
  EXPECT_THAT(registry_.Remove("a"), IsOk());
  EXPECT_THAT(registry_.Add({.name = "d", .api_key = "d"}), IsOk());
}

TEST_F(TenantRegistryTest, BadNamesAndKeysAreRefused) {
  EXPECT_THAT(registry_.Put({.name = ""}), Refused(400, "must not be empty"));
  EXPECT_THAT(registry_.Put({.name = std::string(201, 'n')}), Refused(400, "201 bytes"));
  EXPECT_THAT(registry_.Put({.name = std::string(200, 'n')}), IsOk());
  for (const char* name : {"a/b", ".", "..", "a\nb", "\x7f"}) {
    EXPECT_THAT(registry_.Put({.name = name, .api_key = "k"}), Refused(400, "must not contain")) << name;
  }
  for (const char* key : {"a b", " ", "k\n", "\x80"}) {
    EXPECT_THAT(registry_.Put({.name = "a", .api_key = key}), Refused(400, "visible ASCII")) << key;
  }
  EXPECT_THAT(registry_.Put({.name = "a", .api_key = std::string(4096, 'k')}), IsOk());
  EXPECT_THAT(registry_.Put({.name = "a", .api_key = std::string(4097, 'k')}), Refused(400, "longer than"));
}

TEST_F(TenantRegistryTest, AKeyIsOneTenantsOnlyAndNeverShown) {
  ASSERT_THAT(registry_.Add({.name = "a", .api_key = "s3cret"}), IsOk());
  const Result<void> again = registry_.Add({.name = "b", .api_key = "s3cret"});
  EXPECT_THAT(again, Refused(409, "is already that of tenant 'a'"));
  EXPECT_THAT(again.error().Describe(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(registry_.Add({.name = "a", .api_key = "other"}), Refused(409, "already is a tenant 'a'"));
  ASSERT_THAT(registry_.Add({.name = "c"}), IsOk());
  EXPECT_THAT(registry_.Add({.name = "d"}), Refused(409, "only one tenant may have none"));
}

TEST_F(TenantRegistryTest, ReplacingATenantFreesItsOldKey) {
  ASSERT_THAT(registry_.Add({.name = "a", .api_key = "old"}), IsOk());
  const std::shared_ptr<Tenant> before = registry_.FindByName("a");
  ASSERT_THAT(registry_.Put({.name = "a", .api_key = "new"}), IsOk());
  EXPECT_EQ(registry_.FindByKey("old"), nullptr);
  EXPECT_NE(registry_.FindByKey("new"), before);
  EXPECT_THAT(registry_.Add({.name = "b", .api_key = "old"}), IsOk());
}

TEST_F(TenantRegistryTest, KeysCanBeRequired) {
  TenantRegistry strict({.clock = clock_, .keys_required = true});
  EXPECT_THAT(strict.Add({}), Refused(400, "not loopback"));
  EXPECT_THAT(strict.Add({.api_key = "k"}), IsOk());
}

TEST_F(TenantRegistryTest, LastTenantStays) {
  ASSERT_THAT(registry_.Add({.name = "a"}), IsOk());
  EXPECT_THAT(registry_.Remove("b"), Refused(404, "no tenant 'b'"));
  EXPECT_THAT(registry_.Remove("a"), Refused(409, "last one"));
  ASSERT_THAT(registry_.Add({.name = "b", .api_key = "b"}), IsOk());
  EXPECT_THAT(registry_.Remove("a"), IsOk());
  EXPECT_EQ(registry_.Keyless(), nullptr);
  EXPECT_EQ(registry_.Fallback(), registry_.FindByName("b"));
}

TEST_F(TenantRegistryTest, SeedComesFromTheOptionsThenTheScenarioThenTheServer) {
  auto seeded = std::make_shared<Scenario>();
  seeded->seed = 5;
  ASSERT_THAT(registry_.Add({.name = "a", .api_key = "a", .scenario = seeded, .seed = 3}), IsOk());
  ASSERT_THAT(registry_.Add({.name = "b", .api_key = "b", .scenario = seeded}), IsOk());
  ASSERT_THAT(registry_.Add({.name = "c", .api_key = "c"}), IsOk());
  const auto seed = [&](const char* name) { return registry_.FindByName(name)->seed; };
  EXPECT_EQ(seed("a"), 3u);
  EXPECT_EQ(seed("b"), 5u);
  EXPECT_EQ(seed("c"), 7u);
  ASSERT_THAT(registry_.LoadScenario("c", seeded), IsOk());
  EXPECT_EQ(seed("c"), 5u);
  ASSERT_THAT(registry_.LoadScenario("c", nullptr), IsOk());
  EXPECT_EQ(seed("c"), 7u);
}

TEST_F(TenantRegistryTest, SandboxIdsRepeatPerRunButNotAcrossTenantsAndWorlds) {
  ASSERT_THAT(registry_.Add({.name = "a", .api_key = "a"}), IsOk());
  ASSERT_THAT(registry_.Add({.name = "b", .api_key = "b"}), IsOk());
  const std::string first = Create("a");
  const std::string of_other = Create("b");
  ASSERT_THAT(registry_.Reset("a"), IsOk());
  const std::string after_reset = Create("a");
  ASSERT_THAT(registry_.Put({.name = "a", .api_key = "a"}), IsOk());
  const std::string after_replacement = Create("a");
  EXPECT_NE(first, of_other);
  EXPECT_NE(first, after_reset);
  EXPECT_NE(first, after_replacement);
  EXPECT_NE(after_reset, after_replacement);

  TenantRegistry again({.clock = clock_, .seed = 7});
  ASSERT_THAT(again.Add({.name = "a", .api_key = "a"}), IsOk());
  const std::shared_ptr<Tenant> tenant = again.FindByName("a");
  EXPECT_EQ(tenant->store->Create({.image = "i"}, {}, 1, clock_->Now(), clock_->WallNow())->id, first);
}

TEST_F(TenantRegistryTest, ResetBeginsAnEmptyWorldWithTheSameScenario) {
  auto scenario = std::make_shared<Scenario>();
  scenario->name = "mine";
  ASSERT_THAT(registry_.Add({.name = "a", .scenario = scenario}), IsOk());
  const std::shared_ptr<Tenant> tenant = registry_.FindByName("a");
  const std::string id = Create("a");
  tenant->journal->Begin({});
  clock_->Advance(std::chrono::seconds(9));
  ASSERT_THAT(registry_.Reset("a"), IsOk());
  EXPECT_EQ(registry_.FindByName("a"), tenant);
  EXPECT_EQ(tenant->store->created_count(), 0u);
  EXPECT_EQ(tenant->journal->total(), 0u);
  EXPECT_EQ(tenant->scenario, scenario);
  EXPECT_EQ(tenant->loaded, TimePoint{} + std::chrono::seconds(9));
  // A client that still has an old endpoint is answered by the tenant that knew the sandbox.
  EXPECT_EQ(registry_.FindBySandbox(id), tenant);
  EXPECT_THAT(registry_.Reset("b"), Refused(404, "no tenant 'b'"));
  EXPECT_THAT(registry_.LoadScenario("b", scenario), Refused(404, "no tenant 'b'"));
}

TEST_F(TenantRegistryTest, JudgesTheWorldAsItIsNow) {
  auto scenario = std::make_shared<Scenario>();
  scenario->name = "s";
  ASSERT_THAT(registry_.Add({.name = "a", .scenario = scenario}), IsOk());
  Create("a", std::chrono::seconds(60));
  clock_->Advance(std::chrono::seconds(61));
  const Result<Verdict> verdict = registry_.Judge("a", {"step 1 failed"});
  ASSERT_THAT(verdict, IsOk());
  EXPECT_FALSE(verdict->passed);
  EXPECT_EQ(verdict->ledger.expired, 1u);
  ASSERT_EQ(verdict->leaks.size(), 1u);
  EXPECT_TRUE(verdict->leaks[0].expired);
  EXPECT_THAT(verdict->failures, ::testing::Contains("step 1 failed"));
  EXPECT_EQ(verdict->virtual_duration, std::chrono::seconds(61));
  EXPECT_THAT(registry_.Judge("b", {}), Refused(404, "no tenant 'b'"));
}

TEST(SandboxIndexTest, KeepsTheNewestEndedOnesAndAllLiveOnes) {
  SandboxIndex index(2);
  const auto tenant = std::make_shared<Tenant>();
  for (const char* id : {"live", "1", "2", "3"}) index.Add(id, tenant);
  for (const char* id : {"1", "2"}) index.NoteEnded(id);
  EXPECT_EQ(index.Find("1"), tenant);
  index.NoteEnded("3");
  EXPECT_EQ(index.Find("1"), nullptr);
  EXPECT_EQ(index.Find("2"), tenant);
  EXPECT_EQ(index.Find("3"), tenant);
  EXPECT_EQ(index.Find("live"), tenant);
  EXPECT_EQ(index.size(), 3u);
}

TEST(SandboxIndexTest, GoneTenantIsUnknown) {
  SandboxIndex index;
  index.Add("1", std::make_shared<Tenant>());
  EXPECT_EQ(index.Find("1"), nullptr);
}

}  // namespace
}  // namespace opensandbox::emulator
