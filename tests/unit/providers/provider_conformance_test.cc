// The suite passes a provider that keeps the contract and fails four that break one hook each.
#include "opensandbox/mocks/provider_conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <mutex>

#include "tests/support/matchers.h"

namespace opensandbox {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// A backend of a set of ids, and a provider that keeps the contract.
class GoodProvider : public SandboxProvider {
 public:
  explicit GoodProvider(std::set<std::string>* backend) : backend_(*backend) {}

  std::string name() const override { return "good"; }
  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override {
    return api_key.value_or("");
  }
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override {
    if (request.stop.stop_requested()) return Fail(ErrorKind::kCancelled, "");
    SandboxHandle handle;
    handle.id = "sb-" + std::to_string(++created_);
    handle.provider = name();
    backend_.insert(handle.id);
    return handle;
  }
  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override {
    const auto& handle = std::get<SandboxHandle>(sandbox);
    if (handle.provider != name()) return Fail(ErrorKind::kInvalidArgument, handle.id);
    if (request.stop.stop_requested()) return Fail(ErrorKind::kCancelled, handle.id);
    if (backend_.count(handle.id) == 0) return Fail(ErrorKind::kSandboxGone, handle.id);
    CodeExecutionResult result;
    if (request.code == "print(6*7)") {
      result.stdout_text = "42\n";
    } else {
      result.error = ExecutionError{"ValueError", "bad", {}};
      result.errors = {*result.error};
    }
    return result;
  }
  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& /*request*/) override {
    const auto* handle = std::get_if<SandboxHandle>(&sandbox);
    return backend_.erase(handle != nullptr ? handle->id : std::get<std::string>(sandbox)) > 0;
  }

 protected:
  static Error Fail(ErrorKind kind, const std::string& id) {
    Error error;
    error.kind = kind;
    error.sandbox_id = id;
    return error;
  }
  std::set<std::string>& backend_;
  int created_ = 0;
};

class ForgetsTheKey : public GoodProvider {
 public:
  using GoodProvider::GoodProvider;
  Result<std::string> ValidateEnvironment(const std::optional<std::string>&) override { return std::string("default"); }
};

class LeaksWhenCancelled : public GoodProvider {
 public:
  using GoodProvider::GoodProvider;
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override {
    CreateSandboxRequest deaf = request;
    deaf.stop = {};
    Result<SandboxHandle> handle = GoodProvider::CreateSandbox(deaf);
    if (request.stop.stop_requested()) return Fail(ErrorKind::kCancelled, "");
    return handle;
  }
};

class TakesRaisedForFailed : public GoodProvider {
 public:
  using GoodProvider::GoodProvider;
  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override {
    Result<CodeExecutionResult> result = GoodProvider::RunCode(sandbox, request);
    if (result && result->error) return Fail(ErrorKind::kApi, "");
    return result;
  }
};

class OnlySaysItDeletes : public GoodProvider {
 public:
  using GoodProvider::GoodProvider;
  Result<bool> DeleteSandbox(const SandboxRef&, const DeleteSandboxRequest&) override { return true; }
};

class LacksDelete : public PartialProvider {
 public:
  std::string name() const override { return "lacks"; }
  std::set<Hook> capabilities() const override {
    return {Hook::kValidateEnvironment, Hook::kCreateSandbox, Hook::kRunCode};
  }
  Result<std::string> ValidateEnvironment(const std::optional<std::string>& key) override { return key.value_or(""); }
};

template <typename Provider>
ConformanceSubject SubjectOf(const std::string& name) {
  auto backend = std::make_shared<std::set<std::string>>();
  ConformanceSubject subject;
  subject.name = name;
  subject.make = [backend] { return std::make_shared<Provider>(backend.get()); };
  subject.live = [backend] { return *backend; };
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Good, ProviderConformanceTest, ::testing::Values(SubjectOf<GoodProvider>("GoodProvider")),
                         ConformanceSubject::Name);

ConformanceFindings AllFindings(const ConformanceSubject& subject) {
  ConformanceFindings all;
  for (auto* check :
       {CheckValidateEnvironment, CheckCreateSandbox, CheckRunCode, CheckDeleteSandbox, CheckEphemeralUse}) {
    for (ConformanceFinding& finding : check(subject)) all.push_back(std::move(finding));
  }
  return all;
}

std::set<Hook> Blamed(const ConformanceSubject& subject) {
  std::set<Hook> hooks;
  for (const ConformanceFinding& finding : AllFindings(subject)) hooks.insert(finding.hook);
  return hooks;
}

TEST(ConformanceFindingsTest, AGoodProviderHasNone) {
  EXPECT_THAT(AllFindings(SubjectOf<GoodProvider>("Good")), IsEmpty());
}

TEST(ConformanceFindingsTest, EachBrokenHookIsFoundAndNoOtherBlamed) {
  EXPECT_EQ(Blamed(SubjectOf<ForgetsTheKey>("A")), std::set<Hook>{Hook::kValidateEnvironment});
  EXPECT_EQ(Blamed(SubjectOf<LeaksWhenCancelled>("B")), std::set<Hook>{Hook::kCreateSandbox});
  EXPECT_EQ(Blamed(SubjectOf<TakesRaisedForFailed>("C")), std::set<Hook>{Hook::kRunCode});
  EXPECT_EQ(Blamed(SubjectOf<OnlySaysItDeletes>("D")), std::set<Hook>{Hook::kDeleteSandbox});
}

TEST(ConformanceFindingsTest, AMissingHookIsNamed) {
  ConformanceSubject subject;
  subject.make = [] { return std::make_shared<LacksDelete>(); };
  subject.live = [] { return std::set<std::string>(); };
  const ConformanceFindings findings = CheckValidateEnvironment(subject);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].hook, Hook::kDeleteSandbox);
}

// The suite itself, not only its checks, fails on a broken provider.
class ReportingTest : public ProviderConformanceTest {
 public:
  using ProviderConformanceTest::Report;
};

TEST(ConformanceFindingsTest, AFindingFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(ReportingTest::Report({{Hook::kRunCode, "broken"}}), "arun_code: broken");
  EXPECT_THAT(CheckDeleteSandbox(SubjectOf<OnlySaysItDeletes>("D")), Not(IsEmpty()));
}

}  // namespace
}  // namespace opensandbox
