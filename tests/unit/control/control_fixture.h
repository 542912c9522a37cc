// An emulator without listeners, and requests to its control API.
#ifndef OPENSANDBOX_TESTS_UNIT_CONTROL_CONTROL_FIXTURE_H_
#define OPENSANDBOX_TESTS_UNIT_CONTROL_CONTROL_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "emulator/control/control_api.h"
#include "emulator/core/operation.h"
#include "emulator/service/tenant_registry.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {

class UnlistedEmulator : public Emulator {
 public:
  explicit UnlistedEmulator(std::shared_ptr<Clock> clock) : registry({.clock = std::move(clock), .seed = 7}) {}

  std::string address() const override { return "127.0.0.1:8080"; }
  std::string base_url() const override { return "http://127.0.0.1:8080/v1"; }
  std::string control_address() const override { return "127.0.0.1:9090"; }
  std::uint64_t seed() const override { return 7; }
  TimePoint started() const override { return TimePoint{}; }
  void Stop(Duration) override {}
  Result<void> AddTenant(const TenantOptions& options) override { return registry.Put(options); }
  Result<void> RemoveTenant(const std::string& tenant) override { return registry.Remove(tenant); }
  Result<void> LoadScenario(const std::string& tenant, std::shared_ptr<const Scenario> scenario) override {
    return registry.LoadScenario(tenant, std::move(scenario));
  }
  Result<void> Reset(const std::string& tenant) override { return registry.Reset(tenant); }
  Result<Verdict> JudgeTenant(const std::string& tenant, const std::vector<std::string>& step_failures) override {
    return registry.Judge(tenant, step_failures);
  }
  std::vector<std::string> TenantNames() const override { return registry.Names(); }
  std::shared_ptr<Tenant> FindTenant(const std::string& name) const override { return registry.FindByName(name); }
  std::shared_ptr<Tenant> FallbackTenant() const override { return registry.Fallback(); }
  std::vector<JournalEntry> RejectedRequests() const override { return rejected; }
  bool shutdown_requested() const override { return shutdown; }

  TenantRegistry registry;
  std::vector<JournalEntry> rejected;
  bool shutdown = false;
};

class ControlTest : public ::testing::Test {
 protected:
  struct Answer {
    int status = 0;
    std::string body;
    nlohmann::json json;  // null if the body is no JSON
    std::vector<Header> headers;

    std::string Head(const std::string& name) const {
      for (const Header& header : headers) {
        if (header.name == name) return header.value;
      }
      return "";
    }
    std::string error() const { return json.is_object() ? json.value("error", "") : ""; }
  };

  static Request MakeRequest(std::string method, const std::string& target, std::string body = "") {
    Request request;
    request.method = std::move(method);
    request.target = target;
    const std::size_t question = target.find('?');
    request.path = target.substr(0, question);
    if (question != std::string::npos) request.query = target.substr(question + 1);
    request.headers = {{"Host", "127.0.0.1:9090"}};
    request.body = std::move(body);
    request.has_body = !request.body.empty();
    request.local = "127.0.0.1:9090";
    return request;
  }
  Answer Send(const Request& request) {
    ReplyPlan plan = HandleControl(emulator_, request, [this] { emulator_.shutdown = true; });
    EXPECT_NE(plan.Find("content-length"), nullptr);
    EXPECT_EQ(plan.Find("content-length")->value, std::to_string(plan.body.size()));
    Answer answer{plan.status, plan.body, nlohmann::json::parse(plan.body, nullptr, false), plan.headers};
    if (answer.json.is_discarded()) answer.json = nullptr;
    return answer;
  }
  Answer Send(std::string method, const std::string& target, std::string body = "") {
    return Send(MakeRequest(std::move(method), target, std::move(body)));
  }
  void AddTenant(TenantOptions options) {
    const Result<void> added = emulator_.registry.Add(options);
    ASSERT_TRUE(added.has_value()) << added.error().message;
  }
  std::string Create(const std::string& tenant_name, SandboxSpec spec = {.image = "i"}, std::uint64_t request = 1) {
    const std::shared_ptr<Tenant> tenant = emulator_.registry.FindByName(tenant_name);
    std::lock_guard lock(tenant->mutex);
    return tenant->store->Create(std::move(spec), {}, request, tenant->clock->Now(), tenant->clock->WallNow())->id;
  }

  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  UnlistedEmulator emulator_{clock_};
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_CONTROL_CONTROL_FIXTURE_H_
