// Where sandboxes come from, and that each stays with what it was made with.
#include "tests/unit/interception/fake_provider.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kCannotCreate[] =
    "CodeInterpreterInterception: no sandbox available. Provide a sandbox_config or configure a sandbox tool "
    "resolvable "
    "via sandbox_tool_name.";
constexpr char kCannotRun[] = "CodeInterpreterInterception: no sandbox available to run code.";

class SandboxSourceTest : public InterceptionTest {
 protected:
  SandboxSourceTest() {
    options_.sandbox_config = nullptr;
    registry_ = std::make_shared<SandboxToolRegistry>([](const std::string&) { return std::nullopt; });
    directory_ = std::make_shared<ProviderDirectory>();
    directory_->Add(provider_);
    options_.registry = registry_;
    options_.providers = directory_;
    options_.sandbox_tool_name = "py";
  }

  void Register(const std::string& key) {
    SandboxTool tool{"py", {}};
    tool.params.sandbox_provider = "fake";
    tool.params.api_key = key;
    tool.params.api_base = "http://" + key;
    EXPECT_THAT(registry_->Register({tool}), IsEmpty());
  }
  Result<LoopResult> OneRun() {
    model_.Then(Output(CodeCall("c1", "1"))).Then(Output(MessageItem()));
    return Loop(ResponsesRequest());
  }

  std::shared_ptr<SandboxToolRegistry> registry_;
  std::shared_ptr<ProviderDirectory> directory_;
};

TEST_F(SandboxSourceTest, ANamedToolGivesProviderKeyAndBase) {
  Register("k1");
  ASSERT_THAT(OneRun(), IsOk());
  EXPECT_EQ(provider_->creates()[0].api_key, "k1");
  EXPECT_EQ(provider_->creates()[0].api_base, "http://k1");
  EXPECT_EQ(provider_->runs()[0].api_key, "k1");
  EXPECT_EQ(provider_->deletes()[0].api_key, "k1");
  EXPECT_EQ(provider_->deletes()[0].api_base, "http://k1");
}

TEST_F(SandboxSourceTest, AReloadBetweenCreateAndDeleteChangesNothing) {
  Register("old");
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(CodeCall("c2", "2"))).Then(Output(MessageItem()));
  model_.before = [this](std::size_t call) {
    if (call == 2) Register("new");
    if (call == 3) registry_->Clear();
  };
  ASSERT_THAT(Loop(ResponsesRequest()), IsOk());
  ASSERT_THAT(provider_->runs(), SizeIs(2));
  EXPECT_EQ(provider_->runs()[1].api_key, "old");
  EXPECT_EQ(provider_->deletes()[0].api_key, "old");
  EXPECT_EQ(provider_->deletes()[0].api_base, "http://old");
}

TEST_F(SandboxSourceTest, AToolsSettingsReachTheProvider) {
  SandboxTool tool{"py", {}};
  tool.params.sandbox_provider = "fake";
  tool.params.image = "img";
  tool.params.timeout_seconds = 77;
  tool.params.language = "bash";
  tool.params.run_deadline = 5s;
  tool.params.output_bytes_max = 9;
  registry_->Register({tool});
  ASSERT_THAT(OneRun(), IsOk());
  EXPECT_EQ(provider_->creates()[0].image, "img");
  EXPECT_EQ(provider_->creates()[0].timeout_seconds, 77);
  EXPECT_EQ(provider_->runs()[0].language, "bash");
  EXPECT_EQ(provider_->runs()[0].run_deadline, 5s);
  EXPECT_EQ(provider_->runs()[0].output_bytes_max, 9u);
}

TEST_F(SandboxSourceTest, ModelCodeGetsNoInternetUnlessTheToolSaysSo) {
  Register("k");
  ASSERT_THAT(OneRun(), IsOk());
  EXPECT_EQ(provider_->creates()[0].allow_internet_access, false);
  SandboxTool tool{"py", {}};
  tool.params.sandbox_provider = "fake";
  tool.params.allow_internet_access = true;
  registry_->Register({tool});
  ASSERT_THAT(OneRun(), IsOk());
  EXPECT_EQ(provider_->creates()[1].allow_internet_access, true);
}

TEST_F(SandboxSourceTest, ASandboxConfigWinsOverTheTool) {
  Register("k1");
  auto own = std::make_shared<FakeProvider>();
  options_.sandbox_config = own;
  ASSERT_THAT(OneRun(), IsOk());
  EXPECT_THAT(own->events(), SizeIs(3));
  EXPECT_THAT(provider_->events(), IsEmpty());
}

TEST_F(SandboxSourceTest, AnUnknownNameFailsTheRequestWithTheContractsText) {
  EXPECT_THAT(OneRun(), FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, kCannotCreate)));
}

TEST_F(SandboxSourceTest, NoNameAndNoRegistryFailInTheSameWay) {
  Register("k");
  options_.sandbox_tool_name.reset();
  EXPECT_THAT(OneRun(), FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, kCannotCreate)));
  EndHandler();
  options_.sandbox_tool_name = "py";
  options_.registry = nullptr;
  ScriptedModel model;
  model.Then(Output(CodeCall("c1", "1")));
  ModelRequest request;
  request.json = ResponsesRequest();
  EXPECT_THAT(handler().RunAgenticLoop(request, model.caller()),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, kCannotCreate)));
}

TEST_F(SandboxSourceTest, AProviderThatNobodyAddedFailsTheRequest) {
  SandboxTool tool{"py", {}};
  tool.params.sandbox_provider = "e2b";
  registry_->Register({tool});
  EXPECT_THAT(OneRun(), FailsWith(ErrorKind::kNotImplemented,
                                  Field(&Error::message, "Code execution is not supported for provider: e2b")));
}

TEST_F(SandboxSourceTest, AHandleApartFromItsParametersCannotRun) {
  options_.create_sandbox = [](std::stop_token) -> Result<PairedSandbox> {
    PairedSandbox sandbox;
    sandbox.handle.id = "elsewhere";
    sandbox.handle.provider = "opensandbox";
    return sandbox;
  };
  EXPECT_THAT(OneRun(), FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, kCannotRun)));
  // And is not forgotten in silence.
  ASSERT_THAT(leaks_.Leaks(), SizeIs(1));
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "elsewhere");
  EXPECT_THAT(leaks_.Leaks()[0].reason, HasSubstr("no provider"));
}

TEST_F(SandboxSourceTest, ASandboxMadeElsewhereRunsWithTheProviderThatCameWithIt) {
  options_.create_sandbox = [this](std::stop_token) -> Result<PairedSandbox> {
    Result<SandboxHandle> handle = provider_->CreateSandbox({});
    return PairedSandbox{*handle, provider_, nullptr};
  };
  ASSERT_THAT(OneRun(), IsOk());
  EXPECT_THAT(provider_->events(), ElementsAre("create sb-1", "run sb-1 1", "delete sb-1"));
}

}  // namespace
}  // namespace opensandbox
