// A provider whose sandboxes are entries of a set, and a model that plays a script.
#ifndef OPENSANDBOX_TESTS_UNIT_INTERCEPTION_FAKE_PROVIDER_H_
#define OPENSANDBOX_TESTS_UNIT_INTERCEPTION_FAKE_PROVIDER_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opensandbox/base/virtual_clock.h"
#include "opensandbox/interception/interception_handler.h"
#include "opensandbox/providers/sandbox_renewal.h"
#include "tests/support/matchers.h"

namespace opensandbox::testing {

inline Error MakeError(ErrorKind kind, std::string message = "scripted", Outcome outcome = Outcome::kDidNotHappen) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  error.outcome = outcome;
  return error;
}

inline CodeExecutionResult Printed(std::string text) {
  CodeExecutionResult result;
  result.stdout_text = std::move(text);
  return result;
}

// Thread-safe. Sandboxes are named sb-1, sb-2, ... By default a run prints its code.
class FakeProvider : public SandboxProvider {
 public:
  std::string name() const override { return "fake"; }
  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override {
    return api_key.value_or("");
  }

  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override {
    if (on_create) {
      if (std::optional<Error> error = on_create(request)) return *error;
    }
    const std::lock_guard lock(mutex_);
    creates_.push_back(request);
    SandboxHandle handle;
    handle.id = "sb-" + std::to_string(creates_.size());
    handle.provider = name();
    live_.insert(handle.id);
    live_max_ = std::max(live_max_, live_.size());
    events_.push_back("create " + handle.id);
    return handle;
  }

  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override {
    const std::string& id = std::get<SandboxHandle>(sandbox).id;
    {
      const std::lock_guard lock(mutex_);
      runs_.push_back(request);
      events_.push_back("run " + id + " " + request.code);
      if (live_.count(id) == 0) return MakeError(ErrorKind::kSandboxGone);
    }
    if (on_run) return on_run(id, request);
    return Printed(request.code);
  }

  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) override {
    const std::string& id = std::get<SandboxHandle>(sandbox).id;
    if (on_delete) on_delete(id);
    const std::lock_guard lock(mutex_);
    deletes_.push_back(request);
    events_.push_back("delete " + id);
    if (delete_error) return *delete_error;
    return live_.erase(id) > 0;
  }

  void Kill(const std::string& id) {
    const std::lock_guard lock(mutex_);
    live_.erase(id);
  }
  std::set<std::string> live() const {
    const std::lock_guard lock(mutex_);
    return live_;
  }
  std::size_t live_max() const {
    const std::lock_guard lock(mutex_);
    return live_max_;
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  std::vector<CreateSandboxRequest> creates() const {
    const std::lock_guard lock(mutex_);
    return creates_;
  }
  std::vector<RunCodeRequest> runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
  }
  std::vector<DeleteSandboxRequest> deletes() const {
    const std::lock_guard lock(mutex_);
    return deletes_;
  }

  // Set before use.
  std::function<std::optional<Error>(const CreateSandboxRequest&)> on_create;
  std::function<Result<CodeExecutionResult>(const std::string& id, const RunCodeRequest&)> on_run;
  std::function<void(const std::string& id)> on_delete;
  std::optional<Error> delete_error;

 protected:
  mutable std::mutex mutex_;
  std::set<std::string> live_;
  std::vector<std::string> events_;

 private:
  std::size_t live_max_ = 0;
  std::vector<CreateSandboxRequest> creates_;
  std::vector<RunCodeRequest> runs_;
  std::vector<DeleteSandboxRequest> deletes_;
};

class RenewableFakeProvider : public FakeProvider, public SandboxRenewal {
 public:
  Result<void> RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) override {
    const std::string& id = std::get<SandboxHandle>(sandbox).id;
    const std::lock_guard lock(mutex_);
    renewals.push_back(request);
    events_.push_back("renew " + id);
    if (renew_error) return *renew_error;
    if (live_.count(id) == 0) return MakeError(ErrorKind::kSandboxGone);
    return {};
  }

  std::vector<RenewSandboxRequest> renewals;  // read when nothing runs
  std::optional<Error> renew_error;
};

class ScriptedModel {
 public:
  ScriptedModel& Then(std::string response) {
    script_.push_back(std::move(response));
    return *this;
  }
  ScriptedModel& Fails(Error error) {
    script_.push_back(std::move(error));
    return *this;
  }
  CallModel caller() {
    return [this](const std::string& request, const std::stop_token&) -> Result<std::string> {
      requests_.push_back(request);
      if (before) before(requests_.size());
      if (script_.empty()) return MakeError(ErrorKind::kTransport, "the script is over");
      Result<std::string> next = std::move(script_.front());
      script_.pop_front();
      return next;
    };
  }
  const std::vector<std::string>& requests() const { return requests_; }

  std::function<void(std::size_t call)> before;  // 1, 2, ...

 private:
  std::deque<Result<std::string>> script_;
  std::vector<std::string> requests_;
};

// --- bodies ---------------------------------------------------------------------------------------------------------

inline constexpr char kFunctionTool[] =
    R"({"type":"function","name":"litellm_code_execution","description":"Execute python code in a sandbox and return )"
    R"(stdout.","parameters":{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}})";
inline constexpr char kChatFunctionTool[] =
    R"({"type":"function","function":{"name":"litellm_code_execution","description":"Execute python code in a sandbox )"
    R"(and return stdout.","parameters":{"type":"object","properties":{"code":{"type":"string"}},)"
    R"("required":["code"]}}})";

// `more` begins with a comma.
inline std::string ResponsesRequest(const std::string& more = "") {
  return R"({"model":"m","input":"hi","tools":[{"type":"code_interpreter"}])" + more + "}";
}
inline std::string ChatRequest(const std::string& more = "") {
  return R"({"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"code_interpreter"}])" + more +
         "}";
}
// `arguments` is JSON text, given with its quotes escaped.
inline std::string FunctionCallItem(const std::string& call_id, const std::string& arguments,
                                    const std::string& name = kCodeExecutionToolName) {
  return R"({"type":"function_call","call_id":")" + call_id + R"(","name":")" + name + R"(","arguments":")" +
         arguments + R"("})";
}
inline std::string CodeCall(const std::string& call_id, const std::string& code) {
  return FunctionCallItem(call_id, R"({\"code\":\")" + code + R"(\"})");
}
inline std::string MessageItem(const std::string& text = "done") {
  return R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":")" + text + R"("}]})";
}
inline std::string Output(const std::string& items) { return R"({"id":"resp_1","output":[)" + items + "]}"; }
inline std::string ChatCall(const std::string& id, const std::string& code,
                            const std::string& name = kCodeExecutionToolName) {
  return R"({"id":")" + id + R"(","type":"function","function":{"name":")" + name + R"(","arguments":"{\"code\":\")" +
         code + R"(\"}"}})";
}
inline std::string ChatAnswer(const std::string& message_more, const std::string& finish = "stop") {
  return R"({"id":"chat_1","choices":[{"index":0,"message":{"role":"assistant")" + message_more +
         R"(},"finish_reason":")" + finish + R"("}]})";
}

class InterceptionTest : public ::testing::Test {
 protected:
  InterceptionTest() {
    options_.sandbox_config = provider_;
    options_.clock = &clock_;
    options_.seed = 7;
    options_.prune_in_background = false;
    options_.leak_sink = &leaks_;
  }

  InterceptionHandler& handler() {
    if (handler_ == nullptr) handler_ = std::make_unique<InterceptionHandler>(options_);
    return *handler_;
  }
  void EndHandler() { handler_.reset(); }
  Result<LoopResult> Loop(const std::string& json, RequestShape shape = RequestShape::kResponses) {
    ModelRequest request;
    request.shape = shape;
    request.json = json;
    return handler().RunAgenticLoop(request, model_.caller());
  }
  Result<LoopResult> Chat(const std::string& json) { return Loop(json, RequestShape::kChatCompletions); }

  VirtualClock clock_;
  std::shared_ptr<RenewableFakeProvider> provider_ = std::make_shared<RenewableFakeProvider>();
  ScriptedModel model_;
  LeakLedger leaks_;
  InterceptionOptions options_;

 private:
  std::unique_ptr<InterceptionHandler> handler_;
};

}  // namespace opensandbox::testing

#endif  // OPENSANDBOX_TESTS_UNIT_INTERCEPTION_FAKE_PROVIDER_H_
