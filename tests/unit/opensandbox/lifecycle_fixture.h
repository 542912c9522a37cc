// One tenant behind the lifecycle server, without sockets.
#ifndef OPENSANDBOX_TESTS_UNIT_OPENSANDBOX_LIFECYCLE_FIXTURE_H_
#define OPENSANDBOX_TESTS_UNIT_OPENSANDBOX_LIFECYCLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "emulator/opensandbox/lifecycle_settings.h"
#include "emulator/opensandbox/surfaces.h"

namespace opensandbox::emulator {

inline constexpr char kCreateBody[] =
    R"({"image":{"uri":"python:3.12"},"entrypoint":["tail","-f","/dev/null"],"timeout":120,"resourceLimits":{}})";

inline Request MakeRequest(std::string method, const std::string& target, std::string body = "",
                           std::vector<Header> headers = {}) {
  Request request;
  request.method = std::move(method);
  request.target = target;
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = target.substr(question + 1);
  request.headers = std::move(headers);
  request.headers.insert(request.headers.begin(), {"Host", "127.0.0.1:8080"});
  if (!body.empty() && !request.FindHeader("content-type").has_value()) {
    request.headers.push_back({"Content-Type", "application/json"});
  }
  request.has_body = !body.empty();
  request.body = std::move(body);
  request.local = "127.0.0.1:8080";
  return request;
}

class LifecycleServer {
 public:
  explicit LifecycleServer(std::shared_ptr<const Scenario> scenario = DefaultScenario(), std::size_t live_max = 100) {
    tenant_.store = std::make_unique<SandboxStore>(SandboxStore::Options{.seed = 3, .live_max = live_max});
    tenant_.scenario = std::move(scenario);
    tenant_.engine = std::make_unique<ScenarioEngine>(tenant_.scenario, 3);
  }

  ReplyPlan Send(const Request& request) {
    const Route route = RouteRequest(request);
    tenant_.store->AdvanceTo(now_);
    sandbox_id_ = route.sandbox_id;
    Call call{.request = request,
              .route = route,
              .tenant = tenant_,
              .now = now_,
              .wall_now = wall_,
              .number = ++number_,
              .request_id = "r-1",
              .public_address = "127.0.0.1:8080",
              .sandbox_id_out = &sandbox_id_,
              .rules_out = &rules_,
              .settings = &settings_};
    if (Sandbox* sandbox = tenant_.store->Find(route.sandbox_id)) {
      call.state_before = sandbox->state;
      call.stage_left = tenant_.store->NoteOperation(*sandbox, route.operation, now_);
    }
    return HandleLifecycle(call);
  }
  ReplyPlan Send(const std::string& method, const std::string& target, const std::string& body = "") {
    return Send(MakeRequest(method, target, body));
  }
  // The id of a sandbox made with kCreateBody, or with another body.
  std::string Create(const std::string& body = kCreateBody) {
    const ReplyPlan plan = Send("POST", "/v1/sandboxes", body);
    EXPECT_EQ(plan.status, 202) << plan.body;
    return sandbox_id_;
  }
  nlohmann::ordered_json Get(const std::string& id) {
    return nlohmann::ordered_json::parse(Send("GET", "/v1/sandboxes/" + id).body, nullptr, false);
  }
  std::string StateOf(const std::string& id) {
    const nlohmann::ordered_json sandbox = Get(id);
    return sandbox.contains("status") ? sandbox["status"]["state"].get<std::string>() : "none";
  }
  void Advance(Duration duration) {
    now_ += duration;
    wall_ += duration;
  }

  LifecycleSettings& settings() { return settings_; }
  SandboxStore& store() { return *tenant_.store; }
  const std::string& sandbox_id() const { return sandbox_id_; }
  const std::vector<std::string>& rules() const { return rules_; }
  std::uint64_t number() const { return number_; }

 private:
  LifecycleSettings settings_;
  Tenant tenant_;
  TimePoint now_{std::chrono::seconds(50)};
  WallTime wall_{std::chrono::seconds(1796075619)};  // 2026-11-30T21:53:39Z
  std::uint64_t number_ = 0;
  std::string sandbox_id_;
  std::vector<std::string> rules_;
};

// A scenario with one rule for every sandbox.
inline std::shared_ptr<const Scenario> ScenarioWith(std::vector<Stage> stages, EndpointBehaviour endpoint = {}) {
  auto scenario = std::make_shared<Scenario>(*DefaultScenario());
  SandboxRule rule;
  rule.id = "the-rule";
  for (Stage& stage : stages) rule.lifecycle.push_back({.stage = std::move(stage)});
  rule.endpoint = endpoint;
  scenario->sandboxes.push_back(std::move(rule));
  return scenario;
}

inline std::string CodeOf(const ReplyPlan& plan) {
  const nlohmann::json body = nlohmann::json::parse(plan.body, nullptr, false);
  return body.is_object() && body.contains("code") ? body["code"].get<std::string>() : "";
}

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_OPENSANDBOX_LIFECYCLE_FIXTURE_H_
