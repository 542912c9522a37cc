// A tenant with one sandbox, and requests to the sandbox's ports without any socket: what the dispatcher does, in pure
// time.
#ifndef OPENSANDBOX_TESTS_UNIT_OPENSANDBOX_EXECD_FIXTURE_H_
#define OPENSANDBOX_TESTS_UNIT_OPENSANDBOX_EXECD_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/opensandbox/execd_stream.h"
#include "emulator/opensandbox/surfaces.h"

namespace opensandbox::emulator {

// One piece of a body and when it came.
struct Chunk {
  std::string bytes;
  bool begins_event = true, ends_event = true;
  TimePoint at{};
};

// A body as far as it was read.
struct Body {
  std::vector<Chunk> chunks;
  std::optional<Ending> ending;    // absent: still open
  std::optional<TimePoint> until;  // what it waits for, if it is open
  TimePoint ended{};
  std::string Text() const {
    std::string text;
    for (const Chunk& chunk : chunks) text += chunk.bytes;
    return text;
  }
};

inline ExecutionEvent Stdout(std::string text, Duration delay = Duration{0}) {
  ExecutionEvent event;
  event.text = std::move(text);
  event.delay = delay;
  return event;
}
inline ExecutionEvent Stderr(std::string text) {
  ExecutionEvent event = Stdout(std::move(text));
  event.kind = ExecutionEvent::Kind::kStderr;
  return event;
}
inline ExecutionEvent Result(std::vector<std::pair<std::string, std::string>> results) {
  ExecutionEvent event;
  event.kind = ExecutionEvent::Kind::kResult;
  event.results = std::move(results);
  return event;
}
inline ExecutionEvent Raised(std::string name, std::string value, std::vector<std::string> traceback = {}) {
  ExecutionEvent event;
  event.kind = ExecutionEvent::Kind::kError;
  event.error_name = std::move(name);
  event.error_value = std::move(value);
  event.traceback = std::move(traceback);
  return event;
}
inline ExecutionEvent Of(ExecutionEvent::Kind kind, std::string text = "") {
  ExecutionEvent event;
  event.kind = kind;
  event.text = std::move(text);
  return event;
}

class SandboxPortTest : public ::testing::Test {
 protected:
  static constexpr WallTime kWall{std::chrono::seconds(1767225600)};  // 2026-01-01T00:00:00Z

  SandboxPortTest() {
    Load({});
    sandbox_ = &Create();
  }

  WallTime WallNow() const { return kWall + now_.time_since_epoch(); }

  // Starts the tenant anew, as a reset does.
  void Load(std::vector<ExecutionRule> rules) {
    auto scenario = std::make_shared<Scenario>();
    scenario->execution = std::move(rules);
    tenant_.scenario = scenario;
    tenant_.store = std::make_unique<SandboxStore>(SandboxStore::Options{.seed = 7});
    tenant_.journal = std::make_unique<Journal>();
    tenant_.engine = std::make_unique<ScenarioEngine>(tenant_.scenario, 7);
    tenant_.execd.clear();
    tenant_.store->SetListener([this](const Sandbox& sandbox) { WakeExecutions(tenant_, sandbox); });
  }
  // What the next runs do; sandboxes and contexts stay.
  void Script(std::vector<ExecutionEvent> events, ExecutionEnd end = ExecutionEnd::kComplete,
              Duration delay_before_end = Duration{0}) {
    ExecutionRule rule;
    rule.id = "script";
    rule.script.rule_id = "script";
    rule.script.events = std::move(events);
    rule.script.end = end;
    rule.script.delay_before_end = delay_before_end;
    auto scenario = std::make_shared<Scenario>();
    scenario->execution = {std::move(rule)};
    tenant_.scenario = scenario;
    tenant_.engine = std::make_unique<ScenarioEngine>(tenant_.scenario, 7);
  }
  Sandbox& Create(std::string policy = "", std::optional<Duration> timeout = {}, std::vector<Stage> stages = {}) {
    SandboxSpec spec;
    spec.image = "python:3.11";
    spec.network_policy_json = std::move(policy);
    spec.timeout = timeout;
    SandboxBehaviour behaviour;
    behaviour.stages = std::move(stages);
    return *tenant_.store->Create(std::move(spec), std::move(behaviour), 1, now_, WallNow());
  }

  // A request to any target of the emulator.
  ReplyPlan SendTo(const std::string& target, const std::string& method, const std::string& body = "",
                   std::vector<Header> headers = {}) {
    Request request;
    request.method = method;
    request.target = target;
    request.path = target.substr(0, target.find('?'));
    if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
    request.headers = std::move(headers);
    request.body = body;
    request.has_body = !body.empty();
    const Route route = RouteRequest(request);
    std::lock_guard lock(tenant_.mutex);
    tenant_.store->AdvanceTo(now_);
    near_miss_.clear();
    rules_.clear();
    Call call{.request = request, .route = route, .tenant = tenant_, .now = now_, .wall_now = WallNow()};
    call.request_id = "0123456789abcdef0123456789abcdef";
    call.sandbox_id_out = &sandbox_id_;
    call.near_miss_out = &near_miss_;
    call.rules_out = &rules_;
    return HandleSandboxPort(call);
  }
  std::string Endpoint(const std::string& port = "44772") const {
    return "/sandbox/" + sandbox_->id + "/proxy/" + port;
  }
  std::string ServerProxy(const std::string& port = "44772") const {
    return "/v1/sandboxes/" + sandbox_->id + "/proxy/" + port;
  }
  ReplyPlan Send(const std::string& method, const std::string& path, const std::string& body = "",
                 std::vector<Header> headers = {}) {
    return SendTo(Endpoint() + path, method, body, std::move(headers));
  }
  ReplyPlan Run(const std::string& code = "x", const std::string& language = "python") {
    return Send("POST", "/code", R"({"context":{"language":")" + language + R"("},"code":")" + code + "\"}");
  }

  // Reads the body; time passes as the body asks for it, up to `limit`, or stays where it is with a limit that has
  // passed. `steps_max` stops endless ones.
  Body Read(BodySource& source, TimePoint limit = TimePoint::max(), std::size_t steps_max = 100000) {
    Body body;
    for (std::size_t step_number = 0; step_number < steps_max; ++step_number) {
      BodyStep step = source.Next(now_, WallNow());
      if (step.kind == BodyStep::Kind::kEnd) {
        body.ending = step.ending;
        body.ended = now_;
        return body;
      }
      if (step.kind == BodyStep::Kind::kBytes) {
        body.chunks.push_back({std::move(step.bytes), step.begins_event, step.ends_event, now_});
        continue;
      }
      body.until = step.until;
      if (!step.until.has_value() || *step.until > limit) {
        if (limit != TimePoint::max()) now_ = std::max(now_, limit);
        return body;
      }
      now_ = std::max(now_, *step.until);
    }
    return body;
  }
  Body Read(ReplyPlan& plan, TimePoint limit = TimePoint::max()) {
    EXPECT_NE(plan.source, nullptr);
    return plan.source == nullptr ? Body{} : Read(*plan.source, limit);
  }

  // The events of a body in short: "stdout hi\n", "error E: v", "execution_complete 50", a time only where it is not 0.
  static std::vector<std::string> Events(const Body& body);
  static std::vector<std::string> Names(const std::vector<Header>& headers) {
    std::vector<std::string> names;
    for (const Header& header : headers) names.push_back(header.name);
    return names;
  }

  Tenant tenant_;
  Sandbox* sandbox_ = nullptr;
  TimePoint now_{};
  std::string sandbox_id_, near_miss_;
  std::vector<std::string> rules_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_OPENSANDBOX_EXECD_FIXTURE_H_
