// PartialProvider, LeakLedger, ScopedSandbox and the ephemeral run.
#include <type_traits>

#include "opensandbox/mocks/mock_leak_sink.h"
#include "opensandbox/mocks/mock_sandbox_provider.h"
#include "opensandbox/providers/scoped_sandbox.h"
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using mocks::MockLeakSink;
using mocks::MockSandboxProvider;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::InSequence;
using ::testing::IsEmpty;
using ::testing::Return;
using ::testing::StrictMock;
using ::testing::Throw;

// --- PartialProvider ------------------------------------------------------------------------------------------------

class CreateOnly : public PartialProvider {
 public:
  std::string name() const override { return "create-only"; }
  std::set<Hook> capabilities() const override { return {Hook::kCreateSandbox}; }
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest&) override {
    ++creates;
    return SandboxHandle{.id = "x"};
  }
  int creates = 0;
};

TEST(PartialProviderTest, EachMissingHookHasTheContractsText) {
  class Nothing : public PartialProvider {
    std::string name() const override { return "nothing"; }
    std::set<Hook> capabilities() const override { return {}; }
  } provider;
  const auto text = [](const char* message) {
    return Field(&Error::message, std::string(message) + " must be implemented by provider");
  };
  EXPECT_THAT(provider.ValidateEnvironment({}), FailsWith(ErrorKind::kNotImplemented, text("validate_environment")));
  EXPECT_THAT(provider.CreateSandbox({}), FailsWith(ErrorKind::kNotImplemented, text("acreate_sandbox")));
  EXPECT_THAT(provider.RunCode("x", {}), FailsWith(ErrorKind::kNotImplemented, text("arun_code")));
  EXPECT_THAT(provider.DeleteSandbox("x", {}),
              FailsWith(ErrorKind::kNotImplemented, AllOf(text("adelete_sandbox"), Field(&Error::sandbox_id, "x"))));
  EXPECT_EQ(provider.MissingHooks().size(), 4u);
}

TEST(PartialProviderTest, MissingHooksAreTheOthers) {
  EXPECT_THAT(CreateOnly().MissingHooks(),
              ElementsAre(Hook::kValidateEnvironment, Hook::kRunCode, Hook::kDeleteSandbox));
}

TEST(PartialProviderTest, AnIncompleteProviderIsNotInstantiable) {
  struct Incomplete : SandboxProvider {
    std::string name() const override { return ""; }
  };
  static_assert(std::is_abstract_v<Incomplete>);
  static_assert(std::is_abstract_v<PartialProvider>);
}

TEST(PartialProviderTest, AnEphemeralRunIsRefusedBeforeAnythingIsCreated) {
  CreateOnly provider;
  EXPECT_THAT(
      RunCodeInEphemeralSandbox(provider, {}, {}),
      FailsWith(ErrorKind::kNotImplemented, Field(&Error::message, "arun_code must be implemented by provider")));
  EXPECT_EQ(provider.creates, 0);
}

// --- LeakLedger -----------------------------------------------------------------------------------------------------

TEST(LeakLedgerTest, KeepsUntilDrained) {
  LeakLedger ledger;
  ledger.OnLeak({"opensandbox", "a", "", "r"});
  ledger.OnLeak({"opensandbox", "b", "", "r"});
  EXPECT_EQ(ledger.Leaks().size(), 2u);
  EXPECT_THAT(ledger.Drain(), ElementsAre(Field(&Leak::sandbox_id, "a"), Field(&Leak::sandbox_id, "b")));
  EXPECT_THAT(ledger.Leaks(), IsEmpty());
}

// --- ScopedSandbox --------------------------------------------------------------------------------------------------

Error Failure(const std::string& message) {
  Error error;
  error.kind = ErrorKind::kApi;
  error.message = message;
  return error;
}

class ScopedSandboxTest : public ::testing::Test {
 protected:
  static SandboxHandle MakeHandle(const std::string& id) { return SandboxHandle{.id = id, .provider = "mock"}; }
  static auto Is(const std::string& id) { return ::testing::VariantWith<SandboxHandle>(Field(&SandboxHandle::id, id)); }
  StrictMock<MockSandboxProvider> provider_;
  StrictMock<MockLeakSink> sink_;
};

TEST_F(ScopedSandboxTest, DeletesOnceAtTheEndOfItsScope) {
  EXPECT_CALL(provider_, CreateSandbox(_)).WillOnce(Return(MakeHandle("a")));
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), Field(&DeleteSandboxRequest::report_leak, false)))
      .WillOnce(Return(true));
  const Result<ScopedSandbox> sandbox = ScopedSandbox::Create(&provider_, {}, &sink_);
  ASSERT_TRUE(sandbox.has_value());
  EXPECT_EQ(sandbox->id(), "a");
}

TEST_F(ScopedSandboxTest, WithoutASinkTheProviderReports) {
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), Field(&DeleteSandboxRequest::report_leak, true)))
      .WillOnce(Return(Failure("no")));
  ScopedSandbox sandbox(&provider_, MakeHandle("a"));
}

TEST_F(ScopedSandboxTest, AFailedCreateIsPassedOn) {
  EXPECT_CALL(provider_, CreateSandbox(_)).WillOnce(Return(Failure("no")));
  EXPECT_FALSE(ScopedSandbox::Create(&provider_, {}, &sink_).has_value());
}

TEST_F(ScopedSandboxTest, WhatCannotBeDeletedIsReportedOnce) {
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), _)).WillOnce(Return(Failure("engine down")));
  EXPECT_CALL(sink_, OnLeak(AllOf(Field(&Leak::sandbox_id, "a"), Field(&Leak::provider, "mock"),
                                  Field(&Leak::reason, HasSubstr("engine down")))));
  ScopedSandbox sandbox(&provider_, MakeHandle("a"), &sink_);
}

TEST_F(ScopedSandboxTest, AnExplicitDeleteIsTheOnlyOne) {
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), _)).WillOnce(Return(false));
  ScopedSandbox sandbox(&provider_, MakeHandle("a"), &sink_);
  EXPECT_THAT(sandbox.Delete(), IsOkAndHolds(false));
  EXPECT_THAT(sandbox.Delete(), IsOkAndHolds(false));
  EXPECT_EQ(sandbox.id(), "a");
}

TEST_F(ScopedSandboxTest, AFailedExplicitDeleteIsTriedAgainAtTheEnd) {
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), _)).WillOnce(Return(Failure("no"))).WillOnce(Return(true));
  ScopedSandbox sandbox(&provider_, MakeHandle("a"), &sink_);
  EXPECT_THAT(sandbox.Delete(), FailsWith(ErrorKind::kApi));
}

TEST_F(ScopedSandboxTest, ReleaseDeletesNothing) {
  ScopedSandbox sandbox(&provider_, MakeHandle("a"), &sink_);
  EXPECT_EQ(sandbox.Release().id, "a");
}

TEST_F(ScopedSandboxTest, MovingMovesTheDuty) {
  InSequence in_order;
  EXPECT_CALL(provider_, DeleteSandbox(Is("b"), _)).WillOnce(Return(true));
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), _)).WillOnce(Return(true));
  ScopedSandbox a(&provider_, MakeHandle("a"), &sink_);
  ScopedSandbox moved(std::move(a));
  ScopedSandbox b(&provider_, MakeHandle("b"), &sink_);
  b = std::move(moved);  // deletes b
  b = std::move(*&b);
}

TEST_F(ScopedSandboxTest, TheDestructorNeverThrows) {
  EXPECT_CALL(provider_, DeleteSandbox(Is("a"), _)).WillOnce(Return(Failure("no")));
  EXPECT_CALL(sink_, OnLeak(_)).WillOnce(Throw(std::runtime_error("sink")));
  { ScopedSandbox sandbox(&provider_, MakeHandle("a"), &sink_); }
}

TEST_F(ScopedSandboxTest, RunsInItsSandbox) {
  EXPECT_CALL(provider_, RunCode(Is("a"), Field(&RunCodeRequest::code, "x"))).WillOnce([] {
    CodeExecutionResult result;
    result.stdout_text = "out";
    return Result<CodeExecutionResult>(std::move(result));
  });
  ScopedSandbox sandbox(&provider_, MakeHandle("a"), &sink_);
  RunCodeRequest request;
  request.code = "x";
  EXPECT_EQ(sandbox.RunCode(request)->stdout_text, "out");
  sandbox.Release();
}

// --- RunCodeInEphemeralSandbox --------------------------------------------------------------------------------------

class EphemeralTest : public ProviderTest {};

TEST_F(EphemeralTest, CreatesRunsAndDeletes) {
  script()
      .Then(Reply(202, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, EndpointJson()))
      .Then(Streams({{"{\"type\":\"stdout\",\"text\":\"42\"}\n{\"type\":\"execution_complete\"}\n"}}))
      .Then(Reply(204, ""));
  CreateSandboxRequest create;
  create.api_key = "k";
  const Result<CodeExecutionResult> result = RunCodeInEphemeralSandbox(provider(), create, {.code = "x"}, &leaks_);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->stdout_text, "42");
  EXPECT_THAT(script().lines(),
              ElementsAre("POST http://api.example/v1/sandboxes", HasSubstr("/endpoints/44772"),
                          "POST http://execd.example:44772/code", "DELETE http://api.example/v1/sandboxes/sb-1"));
  EXPECT_EQ(FindHeader(script().seen().back().request.headers, "OPEN-SANDBOX-API-KEY"), "k");
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(EphemeralTest, DeletesAlsoWhenTheRunFailsAndKeepsItsError) {
  script()
      .Then(Reply(202, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, EndpointJson()))
      .Then(Reply(400, ErrorJson("C", "bad code")))
      .Then(Reply(204, ""));
  EXPECT_THAT(
      RunCodeInEphemeralSandbox(provider(), {}, {}, &leaks_),
      FailsWith(ErrorKind::kApi, AllOf(Field(&Error::message, "bad code"), Field(&Error::cleanup, Cleanup::kDeleted),
                                       Field(&Error::sandbox_id, "sb-1"))));
  EXPECT_EQ(script().lines().back(), "DELETE http://api.example/v1/sandboxes/sb-1");
}

TEST_F(EphemeralTest, ACancelledRunIsStillDeleted) {
  std::stop_source source;
  Exchange run = Streams({{"{\"type\":\"ping\"}\n"}}, Exchange::End::kSilence);
  run.before = [&source] { source.request_stop(); };
  script().Then(Reply(202, SandboxJson("sb-1", "Running"))).Then(Reply(200, EndpointJson())).Then(run);
  script().Then(Reply(503, "")).Then(Reply(204, ""));
  RunCodeRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(RunCodeInEphemeralSandbox(provider(), {}, request, &leaks_),
              FailsWith(ErrorKind::kCancelled, Field(&Error::cleanup, Cleanup::kDeleted)));
  EXPECT_EQ(script().left(), 0u);
}

TEST_F(EphemeralTest, AFailedDeleteHidesNoResultAndIsReportedOnce) {
  script()
      .Then(Reply(202, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, EndpointJson()))
      .Then(Streams({{"{\"type\":\"execution_complete\"}\n"}}))
      .Then(Reply(401, ErrorJson("X", "no")));
  // The provider has the same sink: one report, not two.
  EXPECT_THAT(RunCodeInEphemeralSandbox(provider(), {}, {}, &leaks_), IsOk());
  ASSERT_EQ(leaks_.Leaks().size(), 1u);
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "sb-1");
}

TEST_F(EphemeralTest, AFailedRunAndAFailedDeleteAreBothTold) {
  script()
      .Then(Reply(202, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, EndpointJson()))
      .Then(Reply(400, ErrorJson("C", "bad code")))
      .Then(Reply(401, ErrorJson("X", "no")));
  EXPECT_THAT(
      RunCodeInEphemeralSandbox(provider(), {}, {}),
      FailsWith(ErrorKind::kApi, AllOf(Field(&Error::message, "bad code"), Field(&Error::cleanup, Cleanup::kFailed),
                                       Field(&Error::cleanup_message, "no"))));
  EXPECT_EQ(leaks_.Leaks().size(), 1u);
}

}  // namespace
}  // namespace opensandbox
