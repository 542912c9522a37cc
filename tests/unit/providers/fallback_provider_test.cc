#include "opensandbox/providers/fallback_provider.h"

#include "opensandbox/mocks/mock_sandbox_provider.h"
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::InSequence;
using ::testing::NiceMock;
using ::testing::Optional;
using ::testing::Return;
using ::testing::StrictMock;

Error Failure(ErrorKind kind, std::string message = "no") {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return error;
}

SandboxHandle HandleOf(const std::string& provider, const std::string& id = "sb") {
  SandboxHandle handle;
  handle.id = id;
  handle.provider = provider;
  return handle;
}

class FallbackProviderTest : public ::testing::Test {
 protected:
  FallbackProviderTest() {
    EXPECT_CALL(*first_, name()).WillRepeatedly(Return("opensandbox"));
    EXPECT_CALL(*second_, name()).WillRepeatedly(Return("e2b"));
    options_.on_failure = [this](const std::string& provider, const Error&) { failed_.push_back(provider); };
  }
  SandboxProvider& chain() {
    if (chain_ == nullptr) chain_ = MakeFallbackProvider({{first_, std::nullopt}, {second_, "tpl"}}, options_);
    return *chain_;
  }

  std::shared_ptr<StrictMock<mocks::MockSandboxProvider>> first_ =
      std::make_shared<StrictMock<mocks::MockSandboxProvider>>();
  std::shared_ptr<StrictMock<mocks::MockSandboxProvider>> second_ =
      std::make_shared<StrictMock<mocks::MockSandboxProvider>>();
  FallbackOptions options_;
  std::vector<std::string> failed_;

 private:
  std::unique_ptr<SandboxProvider> chain_;
};

TEST_F(FallbackProviderTest, TheFirstMemberThatWorksIsEnough) {
  EXPECT_CALL(*first_, CreateSandbox).WillOnce(Return(HandleOf("opensandbox")));
  EXPECT_THAT(chain().CreateSandbox({}), IsOkAndHolds(Field(&SandboxHandle::provider, "opensandbox")));
  EXPECT_TRUE(failed_.empty());
}

TEST_F(FallbackProviderTest, ATerminalStateIsAnsweredWithAnotherSandboxThenTheNextMember) {
  InSequence order;
  EXPECT_CALL(*first_, CreateSandbox).Times(2).WillRepeatedly(Return(Failure(ErrorKind::kTerminalState)));
  EXPECT_CALL(*second_, CreateSandbox).WillOnce(Return(HandleOf("e2b")));
  EXPECT_THAT(chain().CreateSandbox({}), IsOkAndHolds(Field(&SandboxHandle::provider, "e2b")));
  EXPECT_THAT(failed_, ElementsAre("opensandbox", "opensandbox"));
}

TEST_F(FallbackProviderTest, OtherFailuresPassTheTurnOnAtOnce) {
  for (const ErrorKind kind : {ErrorKind::kTransport, ErrorKind::kTimeout, ErrorKind::kApi, ErrorKind::kProtocol,
                               ErrorKind::kOutcomeUnknown, ErrorKind::kInvalidArgument, ErrorKind::kNotImplemented}) {
    InSequence order;
    EXPECT_CALL(*first_, CreateSandbox).WillOnce(Return(Failure(kind)));
    EXPECT_CALL(*second_, CreateSandbox).WillOnce(Return(HandleOf("e2b")));
    EXPECT_THAT(chain().CreateSandbox({}), IsOk());
  }
}

TEST_F(FallbackProviderTest, ACancellationIsNoReasonToGoOn) {
  EXPECT_CALL(*first_, CreateSandbox).WillOnce(Return(Failure(ErrorKind::kCancelled)));
  EXPECT_THAT(chain().CreateSandbox({}), FailsWith(ErrorKind::kCancelled));
}

TEST_F(FallbackProviderTest, WhenAllFailTheLastErrorTellsOfTheOthers) {
  EXPECT_CALL(*first_, CreateSandbox).WillOnce(Return(Failure(ErrorKind::kTransport, "refused")));
  EXPECT_CALL(*second_, CreateSandbox).WillOnce(Return(Failure(ErrorKind::kApi, "quota")));
  EXPECT_THAT(chain().CreateSandbox({}),
              FailsWith(ErrorKind::kApi, Field(&Error::message, "quota (before that: opensandbox: refused)")));
}

TEST_F(FallbackProviderTest, AnImageIsNotPassedToAnotherProvider) {
  CreateSandboxRequest request;
  request.image = "python:3.12";
  EXPECT_CALL(*first_, CreateSandbox(Field(&CreateSandboxRequest::image, Optional(std::string("python:3.12")))))
      .WillOnce(Return(Failure(ErrorKind::kApi)));
  EXPECT_CALL(*second_, CreateSandbox(Field(&CreateSandboxRequest::image, Optional(std::string("tpl")))))
      .WillOnce(Return(HandleOf("e2b")));
  EXPECT_THAT(chain().CreateSandbox(request), IsOk());
}

TEST_F(FallbackProviderTest, AKeyIsNotPassedToAnyProvider) {
  CreateSandboxRequest request;
  request.api_key = "secret";
  EXPECT_THAT(chain().CreateSandbox(request), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(chain().ValidateEnvironment("secret"), FailsWith(ErrorKind::kInvalidArgument));
}

TEST_F(FallbackProviderTest, RunAndDeleteGoToTheMaker) {
  EXPECT_CALL(*second_, RunCode).WillOnce(Return(CodeExecutionResult{}));
  EXPECT_CALL(*second_, DeleteSandbox).WillOnce(Return(true));
  EXPECT_THAT(chain().RunCode(HandleOf("e2b"), {.code = "1"}), IsOk());
  EXPECT_THAT(chain().DeleteSandbox(HandleOf("e2b"), {}), IsOkAndHolds(true));
  EXPECT_THAT(chain().RunCode(HandleOf("other"), {.code = "1"}),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("\"other\""))));
  EXPECT_THAT(chain().DeleteSandbox("bare", {}),
              FailsWith(ErrorKind::kInvalidArgument, AllOf(Field(&Error::message, HasSubstr("bare sandbox id")),
                                                           Field(&Error::sandbox_id, "bare"))));
}

TEST_F(FallbackProviderTest, TheEnvironmentOfAnyMemberWillDo) {
  EXPECT_CALL(*first_, ValidateEnvironment).WillOnce(Return(Failure(ErrorKind::kInvalidArgument)));
  EXPECT_CALL(*second_, ValidateEnvironment).WillOnce(Return(std::string("k")));
  EXPECT_THAT(chain().ValidateEnvironment(std::nullopt), IsOkAndHolds("k"));
}

TEST_F(FallbackProviderTest, ABadChainSaysWhatIsWrong) {
  EXPECT_THAT(MakeFallbackProvider({})->CreateSandbox({}),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("no members"))));
  EXPECT_THAT(MakeFallbackProvider({{first_, {}}, {first_, {}}})->CreateSandbox({}),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("two members are named"))));
  EXPECT_THAT(MakeFallbackProvider({{first_, {}}}, {.creates_per_member = 0})->CreateSandbox({}),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("creates_per_member"))));
}

// --- CodeInterpreter
// ----------------------------------------------------------------------------------------------------

class CodeInterpreterTest : public ::testing::Test {
 protected:
  Result<CodeExecutionResult> Go() { return CodeInterpreter(provider_, "1"); }
  StrictMock<mocks::MockSandboxProvider> provider_;
};

TEST_F(CodeInterpreterTest, CreatesRunsAndDeletes) {
  InSequence order;
  EXPECT_CALL(provider_, CreateSandbox).WillOnce(Return(HandleOf("mock", "a")));
  EXPECT_CALL(provider_, RunCode(_, Field(&RunCodeRequest::code, "1"))).WillOnce(Return(CodeExecutionResult{}));
  EXPECT_CALL(provider_, DeleteSandbox).WillOnce(Return(true));
  EXPECT_THAT(Go(), IsOk());
}

TEST_F(CodeInterpreterTest, ASandboxThatDiedBeforeTheRunIsReplacedOnce) {
  Error gone = Failure(ErrorKind::kSandboxGone);
  gone.outcome = Outcome::kDidNotHappen;
  EXPECT_CALL(provider_, CreateSandbox).Times(2).WillRepeatedly(Return(HandleOf("mock", "a")));
  EXPECT_CALL(provider_, RunCode).WillOnce(Return(gone)).WillOnce(Return(CodeExecutionResult{}));
  EXPECT_CALL(provider_, DeleteSandbox).Times(2).WillRepeatedly(Return(true));
  EXPECT_THAT(Go(), IsOk());
}

TEST_F(CodeInterpreterTest, ATerminalStateWhileCreatingIsTriedAgain) {
  Error terminal = Failure(ErrorKind::kTerminalState);
  terminal.outcome = Outcome::kHappened;
  EXPECT_CALL(provider_, CreateSandbox).Times(2).WillRepeatedly(Return(terminal));
  EXPECT_THAT(Go(), FailsWith(ErrorKind::kTerminalState));
}

TEST_F(CodeInterpreterTest, CodeThatMayHaveRunIsNotRunAgain) {
  for (const Outcome outcome : {Outcome::kHappened, Outcome::kUnknown}) {
    Error gone = Failure(ErrorKind::kSandboxGone);
    gone.outcome = outcome;
    EXPECT_CALL(provider_, CreateSandbox).WillOnce(Return(HandleOf("mock", "a")));
    EXPECT_CALL(provider_, RunCode).WillOnce(Return(gone));
    EXPECT_CALL(provider_, DeleteSandbox).WillOnce(Return(true));
    EXPECT_THAT(Go(), FailsWith(ErrorKind::kSandboxGone));
  }
}

}  // namespace
}  // namespace opensandbox
