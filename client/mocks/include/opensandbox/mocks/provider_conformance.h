// Does a provider keep the contract? A GoogleTest suite for authors of providers, and the same checks as functions.
//
//   #include "opensandbox/mocks/provider_conformance.h"  // in one source file of the test program
//   INSTANTIATE_TEST_SUITE_P(Mine, ProviderConformanceTest, ::testing::Values(
//       opensandbox::ConformanceSubject{.name = "Mine", .make = [] { return std::make_shared<MyProvider>(); },
//                                       .live = [] { return my_backend.Ids(); }}),
//       opensandbox::ConformanceSubject::Name);
//
// The checks use all four hooks together: a provider that lacks one leaks, or fails late.
#ifndef OPENSANDBOX_MOCKS_PROVIDER_CONFORMANCE_H_
#define OPENSANDBOX_MOCKS_PROVIDER_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

struct ConformanceSubject {
  std::string name{};  // letters and digits
  // A provider with a backend that works. Called once per check.
  std::function<std::shared_ptr<SandboxProvider>()> make{};
  // The ids of the sandboxes alive at the backend, found out without the provider. What was alive before a check, stays
  // out of it.
  std::function<std::set<std::string>()> live{};
  std::string printing_code = "print(6*7)";
  std::string printed = "42\n";
  std::string raising_code = "raise ValueError('bad')";
  std::string raised_name = "ValueError";

  static std::string Name(const ::testing::TestParamInfo<ConformanceSubject>& info) { return info.param.name; }
};
inline void PrintTo(const ConformanceSubject& subject, std::ostream* os) { *os << subject.name; }

// A broken promise, and the hook that broke it.
struct ConformanceFinding {
  Hook hook{};
  std::string what{};
};
using ConformanceFindings = std::vector<ConformanceFinding>;

namespace internal {

class ConformanceCheck {
 public:
  explicit ConformanceCheck(const ConformanceSubject& subject)
      : subject_(subject), provider_(subject.make()), before_(subject.live()) {}
  // Nothing that a check made stays alive, if the provider can help it.
  ~ConformanceCheck() {
    for (const SandboxHandle& handle : made_) (void)provider_->DeleteSandbox(handle, {});
  }
  ConformanceCheck(const ConformanceCheck&) = delete;
  ConformanceCheck& operator=(const ConformanceCheck&) = delete;

  SandboxProvider& provider() { return *provider_; }
  bool Expect(bool kept, Hook hook, const std::string& what) {
    if (!kept) findings.push_back({hook, what});
    return kept;
  }
  // The ids that came to life since the beginning.
  std::set<std::string> NewIds() const {
    std::set<std::string> ids;
    for (const std::string& id : subject_.live()) {
      if (before_.count(id) == 0) ids.insert(id);
    }
    return ids;
  }
  std::optional<SandboxHandle> Create() {
    Result<SandboxHandle> handle = provider_->CreateSandbox({});
    if (!Expect(handle.has_value(), Hook::kCreateSandbox, "a plain create fails: " + Describe(handle))) {
      return std::nullopt;
    }
    made_.push_back(*handle);
    return *handle;
  }
  template <typename T>
  static std::string Describe(const Result<T>& result) {
    return result ? "success" : result.error().Describe();
  }
  static std::stop_token Stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
  }

  ConformanceFindings findings;

 private:
  const ConformanceSubject& subject_;
  const std::shared_ptr<SandboxProvider> provider_;
  const std::set<std::string> before_;
  std::vector<SandboxHandle> made_;
};

}  // namespace internal

inline ConformanceFindings CheckValidateEnvironment(const ConformanceSubject& subject) {
  internal::ConformanceCheck check(subject);
  const Result<std::string> key = check.provider().ValidateEnvironment("a-key");
  check.Expect(key && *key == "a-key", Hook::kValidateEnvironment,
               "a key that is given is the key that is used; got " + (key ? "\"" + *key + "\"" : check.Describe(key)));
  if (auto* partial = dynamic_cast<PartialProvider*>(&check.provider())) {
    for (const Hook hook : partial->MissingHooks()) check.Expect(false, hook, "the hook is not implemented");
  }
  return check.findings;
}

inline ConformanceFindings CheckCreateSandbox(const ConformanceSubject& subject) {
  internal::ConformanceCheck check(subject);
  const std::optional<SandboxHandle> first = check.Create();
  const std::optional<SandboxHandle> second = check.Create();
  if (!first || !second) return check.findings;
  check.Expect(!first->id.empty(), Hook::kCreateSandbox, "a handle has an id");
  check.Expect(first->id != second->id, Hook::kCreateSandbox, "two creates give two sandboxes");
  check.Expect(first->provider == check.provider().name(), Hook::kCreateSandbox,
               "a handle names its provider; it says \"" + first->provider + "\"");
  check.Expect(check.NewIds() == std::set<std::string>{first->id, second->id}, Hook::kCreateSandbox,
               "after two creates exactly their two sandboxes are alive");
  CreateSandboxRequest request;
  request.stop = check.Stopped();
  const Result<SandboxHandle> cancelled = check.provider().CreateSandbox(request);
  check.Expect(!cancelled && cancelled.error().kind == ErrorKind::kCancelled, Hook::kCreateSandbox,
               "a create that is cancelled from the start is kCancelled; got " + check.Describe(cancelled));
  check.Expect(check.NewIds().size() == 2, Hook::kCreateSandbox, "a cancelled create leaves nothing alive");
  return check.findings;
}

inline ConformanceFindings CheckRunCode(const ConformanceSubject& subject) {
  internal::ConformanceCheck check(subject);
  const std::optional<SandboxHandle> handle = check.Create();
  if (!handle) return check.findings;
  RunCodeRequest request;
  request.code = subject.printing_code;
  const Result<CodeExecutionResult> printed = check.provider().RunCode(*handle, request);
  check.Expect(printed && printed->stdout_text == subject.printed && !printed->error, Hook::kRunCode,
               "code that prints gives its output and no error; got " +
                   (printed ? "\"" + printed->stdout_text + "\"" : check.Describe(printed)));
  request.code = subject.raising_code;
  const Result<CodeExecutionResult> raised = check.provider().RunCode(*handle, request);
  check.Expect(raised && raised->error && raised->error->name == subject.raised_name, Hook::kRunCode,
               "code that raises is a success that holds the error; got " + check.Describe(raised));
  request.code = subject.printing_code;
  request.stop = check.Stopped();
  const Result<CodeExecutionResult> cancelled = check.provider().RunCode(*handle, request);
  check.Expect(!cancelled && cancelled.error().kind == ErrorKind::kCancelled, Hook::kRunCode,
               "a run that is cancelled from the start is kCancelled; got " + check.Describe(cancelled));
  request.stop = {};
  (void)check.provider().DeleteSandbox(*handle, {});
  const Result<CodeExecutionResult> dead = check.provider().RunCode(*handle, request);
  if (subject.live().count(handle->id) > 0) return check.findings;  // the delete's fault
  check.Expect(!dead.has_value(), Hook::kRunCode, "a run in a deleted sandbox fails");
  if (!dead) {
    check.Expect(dead.error().sandbox_id == handle->id, Hook::kRunCode, "a failed run's error names its sandbox");
  }
  SandboxHandle foreign = *handle;
  foreign.provider = "somebody-else";
  const Result<CodeExecutionResult> refused = check.provider().RunCode(foreign, request);
  check.Expect(!refused && refused.error().kind == ErrorKind::kInvalidArgument, Hook::kRunCode,
               "another provider's handle is kInvalidArgument; got " + check.Describe(refused));
  return check.findings;
}

inline ConformanceFindings CheckDeleteSandbox(const ConformanceSubject& subject) {
  internal::ConformanceCheck check(subject);
  const std::optional<SandboxHandle> handle = check.Create();
  const std::optional<SandboxHandle> other = check.Create();
  if (!handle || !other) return check.findings;
  const Result<bool> deleted = check.provider().DeleteSandbox(*handle, {});
  check.Expect(deleted && *deleted, Hook::kDeleteSandbox, "a delete is true; got " + check.Describe(deleted));
  check.Expect(subject.live().count(handle->id) == 0, Hook::kDeleteSandbox, "what was deleted is not alive");
  check.Expect(subject.live().count(other->id) == 1, Hook::kDeleteSandbox, "a delete spares the others");
  const Result<bool> again = check.provider().DeleteSandbox(*handle, {});
  check.Expect(again && !*again, Hook::kDeleteSandbox, "a second delete is false; got " + check.Describe(again));
  const Result<bool> bare = check.provider().DeleteSandbox(other->id, {});
  check.Expect(bare && *bare && subject.live().count(other->id) == 0, Hook::kDeleteSandbox,
               "a bare id is enough to delete; got " + check.Describe(bare));
  return check.findings;
}

// All hooks in a row, as RunCodeInEphemeralSandbox() uses them: whatever happens, nothing stays alive.
inline ConformanceFindings CheckEphemeralUse(const ConformanceSubject& subject) {
  internal::ConformanceCheck check(subject);
  for (const std::string& code : {subject.printing_code, subject.raising_code}) {
    RunCodeRequest run;
    run.code = code;
    const Result<CodeExecutionResult> result = RunCodeInEphemeralSandbox(check.provider(), {}, run);
    check.Expect(result.has_value(), Hook::kRunCode, "an ephemeral run fails: " + check.Describe(result));
    check.Expect(check.NewIds().empty(), Hook::kDeleteSandbox, "an ephemeral run leaves nothing alive");
  }
  return check.findings;
}

class ProviderConformanceTest : public ::testing::TestWithParam<ConformanceSubject> {
 protected:
  static void Report(const ConformanceFindings& findings) {
    for (const ConformanceFinding& finding : findings) {
      ADD_FAILURE() << ToString(finding.hook) << ": " << finding.what;
    }
  }
};

TEST_P(ProviderConformanceTest, ValidatesItsEnvironment) { Report(CheckValidateEnvironment(GetParam())); }
TEST_P(ProviderConformanceTest, Creates) { Report(CheckCreateSandbox(GetParam())); }
TEST_P(ProviderConformanceTest, RunsCode) { Report(CheckRunCode(GetParam())); }
TEST_P(ProviderConformanceTest, Deletes) { Report(CheckDeleteSandbox(GetParam())); }
TEST_P(ProviderConformanceTest, LeavesNothingBehind) { Report(CheckEphemeralUse(GetParam())); }

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProviderConformanceTest);

}  // namespace opensandbox

#endif  // OPENSANDBOX_MOCKS_PROVIDER_CONFORMANCE_H_
