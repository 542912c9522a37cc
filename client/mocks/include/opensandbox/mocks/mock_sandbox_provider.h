// GoogleMock double of SandboxProvider, for tests of code that uses one.
#ifndef OPENSANDBOX_MOCKS_MOCK_SANDBOX_PROVIDER_H_
#define OPENSANDBOX_MOCKS_MOCK_SANDBOX_PROVIDER_H_

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox::mocks {

// name() is "mock" unless the test says otherwise.
class MockSandboxProvider : public SandboxProvider {
 public:
  MockSandboxProvider() { ON_CALL(*this, name()).WillByDefault(::testing::Return("mock")); }

  MOCK_METHOD(std::string, name, (), (const, override));
  MOCK_METHOD(Result<std::string>, ValidateEnvironment, (const std::optional<std::string>& api_key), (override));
  MOCK_METHOD(Result<SandboxHandle>, CreateSandbox, (const CreateSandboxRequest& request), (override));
  MOCK_METHOD(Result<CodeExecutionResult>, RunCode, (const SandboxRef& sandbox, const RunCodeRequest& request),
              (override));
  MOCK_METHOD(Result<bool>, DeleteSandbox, (const SandboxRef& sandbox, const DeleteSandboxRequest& request),
              (override));
};

}  // namespace opensandbox::mocks

#endif  // OPENSANDBOX_MOCKS_MOCK_SANDBOX_PROVIDER_H_
