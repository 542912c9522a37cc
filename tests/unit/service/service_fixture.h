// A registry and a dispatcher on a virtual clock, driven without sockets.
#ifndef OPENSANDBOX_TESTS_UNIT_SERVICE_SERVICE_FIXTURE_H_
#define OPENSANDBOX_TESTS_UNIT_SERVICE_SERVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/scenario/loader.h"
#include "emulator/service/dispatcher.h"
#include "emulator/service/tenant_registry.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {

using std::chrono::seconds;

inline std::shared_ptr<const Scenario> Parse(std::string_view fields) {
  const std::string text = R"({"schemaVersion": 1, "name": "test", )" + std::string(fields) + "}";
  LoadedScenario loaded = ParseScenario(text, "test");
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
  return loaded.scenario;
}

struct RequestOptions {
  std::string key;
  std::string body;
  std::vector<Header> headers;
};

inline Request MakeRequest(std::string method, std::string target, RequestOptions options = {}) {
  Request request;
  request.method = std::move(method);
  request.target = target;
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  request.headers = {{"Host", "127.0.0.1:8080"}};
  if (!options.key.empty()) request.headers.push_back({"OPEN-SANDBOX-API-KEY", options.key});
  if (!options.body.empty()) {
    request.headers.push_back({"Content-Type", "application/json"});
    request.headers.push_back({"Content-Length", std::to_string(options.body.size())});
    request.has_body = true;
  }
  for (Header& header : options.headers) request.headers.push_back(std::move(header));
  request.body = std::move(options.body);
  request.peer = "127.0.0.1:50000";
  request.local = "127.0.0.1:8080";
  request.connection = 1;
  return request;
}

inline std::string CreateBody(const std::string& image = "python:3.12", int timeout_s = 600) {
  return R"({"image":{"uri":")" + image + R"("},"timeout":)" + std::to_string(timeout_s) +
         R"(,"entrypoint":["sleep"],"resourceLimits":{}})";
}

inline Request CreateRequest(const std::string& key = "", const std::string& image = "python:3.12",
                             int timeout_s = 600) {
  return MakeRequest("POST", "/v1/sandboxes", {.key = key, .body = CreateBody(image, timeout_s)});
}

inline std::string ExecdPath(const std::string& sandbox_id, const std::string& path) {
  return "/sandbox/" + sandbox_id + "/proxy/44772" + path;
}

class ServiceTest : public ::testing::Test {
 protected:
  // Each tenant's key is "key-" and its name; "" makes a keyless one of that name.
  void AddTenant(const std::string& name, std::shared_ptr<const Scenario> scenario = nullptr) {
    TenantOptions options{.name = name, .api_key = "key-" + name, .scenario = std::move(scenario)};
    const Result<void> added = registry_.Add(options);
    ASSERT_TRUE(added.has_value()) << added.error().message;
  }
  void AddKeyless(std::shared_ptr<const Scenario> scenario = nullptr) {
    const Result<void> added = registry_.Add({.scenario = std::move(scenario)});
    ASSERT_TRUE(added.has_value()) << added.error().message;
  }

  // Handles the request and ends the exchange as a server that sent the whole reply would.
  ReplyPlan Send(const Request& request) {
    ReplyPlan plan = dispatcher_.Handle(request).plan;
    Finish(plan);
    return plan;
  }
  void Finish(ReplyPlan& plan) {
    ASSERT_TRUE(static_cast<bool>(plan.on_end));
    plan.on_end({.status = plan.status,
                 .body_bytes = plan.body.size(),
                 .ending = Ending::kComplete,
                 .client_closed = false,
                 .at = clock_->Now()});
  }
  // Creates a sandbox and returns its id.
  std::string Create(const std::string& key = "", const std::string& image = "python:3.12", int timeout_s = 600) {
    const ReplyPlan plan = Send(CreateRequest(key, image, timeout_s));
    EXPECT_EQ(plan.status, 202) << plan.body;
    const auto json = nlohmann::json::parse(plan.body, nullptr, false);
    return json.is_object() ? json.value("id", "") : "";
  }
  std::shared_ptr<Tenant> TenantOf(const std::string& name) { return registry_.FindByName(name); }
  std::vector<JournalEntry> JournalOf(const std::string& name) {
    const std::shared_ptr<Tenant> tenant = TenantOf(name);
    std::lock_guard lock(tenant->mutex);
    return {tenant->journal->entries().begin(), tenant->journal->entries().end()};
  }
  std::uint64_t FiredOf(const std::string& name, const std::string& rule) {
    const std::shared_ptr<Tenant> tenant = TenantOf(name);
    std::lock_guard lock(tenant->mutex);
    for (const RuleUsage& usage : tenant->engine->FaultUsage()) {
      if (usage.id == rule) return usage.fired;
    }
    ADD_FAILURE() << "no rule " << rule;
    return 0;
  }
  std::size_t LiveOf(const std::string& name) {
    const std::shared_ptr<Tenant> tenant = TenantOf(name);
    std::lock_guard lock(tenant->mutex);
    tenant->store->AdvanceTo(clock_->Now());
    return tenant->store->live_count();
  }

  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  TenantRegistry registry_{{.clock = clock_, .seed = 7}};
  Dispatcher dispatcher_{registry_, {.clock = clock_, .seed = 7}};
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_SERVICE_SERVICE_FIXTURE_H_
