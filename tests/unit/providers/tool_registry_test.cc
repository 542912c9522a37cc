#include "opensandbox/providers/tool_registry.h"

#include <thread>

#include "opensandbox/mocks/mock_sandbox_provider.h"
#include "tests/support/matchers.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ToolRegistryTest : public ::testing::Test {
 protected:
  static SandboxTool Tool(const std::string& name, const std::string& provider = "opensandbox") {
    SandboxTool tool{name, {}};
    tool.params.sandbox_provider = provider;
    return tool;
  }
  std::map<std::string, std::string> environment_ = {{"KEY", "from-env"}, {"TRUTH", "true"}};
  SandboxToolRegistry registry_{[this](const std::string& name) {
    const auto it = environment_.find(name);
    return it == environment_.end() ? std::nullopt : std::optional<std::string>(it->second);
  }};
};

TEST_F(ToolRegistryTest, ResolvesProviderKeyAndBase) {
  EXPECT_THAT(registry_.RegisterJson(R"([{"sandbox_tool_name":"py","litellm_params":{"sandbox_provider":"opensandbox",)"
                                     R"("api_key":"k","api_base":"http://b"}}])"),
              IsOkAndHolds(IsEmpty()));
  const auto tool = registry_.Resolve("py");
  ASSERT_NE(tool, nullptr);
  EXPECT_EQ(tool->params.sandbox_provider, "opensandbox");
  EXPECT_EQ(tool->params.api_key, "k");
  EXPECT_EQ(tool->params.api_base, "http://b");
  EXPECT_EQ(registry_.Resolve("unknown"), nullptr);
}

TEST_F(ToolRegistryTest, SecretsComeFromTheEnvironmentAtRegistration) {
  ASSERT_THAT(
      registry_.RegisterJson(
          R"([{"sandbox_tool_name":"a","litellm_params":{"sandbox_provider":"e2b","api_key":"os.environ/KEY",)"
          R"("api_base":"os.environ/ABSENT"}},{"sandbox_tool_name":"b","litellm_params":{"sandbox_provider":"e2b",)"
          R"("api_key":"os.environ/TRUTH","api_base":7}}])"),
      IsOkAndHolds(IsEmpty()));
  environment_["KEY"] = "changed";
  EXPECT_EQ(registry_.Resolve("a")->params.api_key, "from-env");
  EXPECT_EQ(registry_.Resolve("a")->params.api_base, std::nullopt);
  EXPECT_EQ(registry_.Resolve("b")->params.api_key, "true");  // a value like any other
  EXPECT_EQ(registry_.Resolve("b")->params.api_base, std::nullopt);
}

TEST_F(ToolRegistryTest, ARegistrationReplacesAllAndAnEmptyOneClears) {
  registry_.Register({Tool("a"), Tool("b")});
  const auto held = registry_.Resolve("a");
  registry_.Register({Tool("c")});
  EXPECT_THAT(registry_.Names(), ElementsAre("c"));
  EXPECT_EQ(held->name, "a");  // what was resolved stays as it was
  EXPECT_THAT(registry_.RegisterJson("[]"), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(registry_.Names(), IsEmpty());
  registry_.Register({Tool("a")});
  registry_.Clear();
  EXPECT_EQ(registry_.Resolve("a"), nullptr);
}

TEST_F(ToolRegistryTest, BadEntriesAreSkippedWithAWarningThatShowsNoValue) {
  const auto warnings = registry_.RegisterJson(
      R"([5,{"litellm_params":{"sandbox_provider":"x","api_key":"SECRET"}},{"sandbox_tool_name":""},)"
      R"({"sandbox_tool_name":"n","litellm_params":{"api_key":"SECRET"}},{"sandbox_tool_name":"n","litellm_params":null},)"
      R"({"sandbox_tool_name":"good","litellm_params":{"sandbox_provider":"e2b"}},)"
      R"({"sandbox_tool_name":"t","litellm_params":{"sandbox_provider":"e2b","timeout":"SECRET"}}])");
  ASSERT_THAT(warnings, IsOkAndHolds(SizeIs(6)));
  EXPECT_THAT(*warnings, Each(Not(HasSubstr("SECRET"))));
  EXPECT_EQ((*warnings)[0], "sandbox_tools[0] was skipped: it is no object");
  EXPECT_THAT((*warnings)[1], HasSubstr("sandbox_tools[1] was skipped: sandbox_tool_name"));
  EXPECT_THAT((*warnings)[3], HasSubstr("litellm_params.sandbox_provider must be"));
  EXPECT_THAT((*warnings)[5], HasSubstr("litellm_params.timeout must be a whole number"));
  EXPECT_THAT(registry_.Names(), ElementsAre("good"));
}

TEST_F(ToolRegistryTest, AListThatIsNoneChangesNothing) {
  registry_.Register({Tool("a")});
  for (const char* text : {"", "{}", "[", "null"}) {
    EXPECT_THAT(registry_.RegisterJson(text), FailsWith(ErrorKind::kInvalidArgument));
  }
  EXPECT_THAT(registry_.Names(), ElementsAre("a"));
}

TEST_F(ToolRegistryTest, ToolsMadeInCodeNeedNameAndProvider) {
  EXPECT_THAT(
      registry_.Register({Tool(""), Tool("x", ""), Tool("y")}),
      ElementsAre("tool 0 was skipped: its name is empty", "tool 1 was skipped: its sandbox_provider is empty"));
  EXPECT_THAT(registry_.Names(), ElementsAre("y"));
}

TEST_F(ToolRegistryTest, AllSettingsAreRead) {
  ASSERT_THAT(registry_.RegisterJson(
                  R"([{"sandbox_tool_name":"a","litellm_params":{"sandbox_provider":"e2b","template":"t","timeout":60,)"
                  R"("allow_internet_access":true,"env":{"A":"1"},"metadata":{"m":"2"},"language":"bash",)"
                  R"("run_deadline":1.5,"idle_timeout":2,"output_bytes_max":100}}])"),
              IsOkAndHolds(IsEmpty()));
  const SandboxToolParams& params = registry_.Resolve("a")->params;
  EXPECT_EQ(params.image, "t");
  EXPECT_EQ(params.timeout_seconds, 60);
  EXPECT_EQ(params.allow_internet_access, true);
  EXPECT_THAT(params.env, ElementsAre(std::pair<const std::string, std::string>("A", "1")));
  EXPECT_THAT(params.metadata, ElementsAre(std::pair<const std::string, std::string>("m", "2")));
  EXPECT_EQ(params.language, "bash");
  EXPECT_EQ(params.run_deadline, 1500ms);
  EXPECT_EQ(params.idle_timeout, 2s);
  EXPECT_EQ(params.output_bytes_max, 100u);
}

TEST_F(ToolRegistryTest, ReadersSeeTheOldSetOrTheNewOne) {
  std::atomic<bool> stop{false};
  std::atomic<int> mixed{0};
  registry_.Register({Tool("a1"), Tool("b1")});
  std::jthread reader([&] {
    while (!stop) {
      const std::vector<std::string> names = registry_.Names();
      if (names.size() != 2 || names[0].back() != names[1].back()) ++mixed;
    }
  });
  for (int i = 0; i < 500; ++i) {
    const std::string n = std::to_string(i % 2);
    registry_.Register({Tool("a" + n), Tool("b" + n)});
  }
  stop = true;
  reader.join();
  EXPECT_EQ(mixed, 0);
}

TEST(ProviderDirectoryTest, FindsWhatWasAddedAndNamesWhatWasNot) {
  ProviderDirectory directory;
  const auto provider = std::make_shared<::testing::NiceMock<mocks::MockSandboxProvider>>();
  directory.Add(provider);
  directory.Add("alias", provider);
  EXPECT_THAT(directory.Find("mock"), IsOkAndHolds(provider));
  EXPECT_THAT(directory.Find("alias"), IsOkAndHolds(provider));
  EXPECT_THAT(directory.Find("e2b"),
              FailsWith(ErrorKind::kNotImplemented,
                        Field(&Error::message, "Code execution is not supported for provider: e2b")));
  EXPECT_THAT(directory.Find("nope"),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, "'nope' is not a valid SandboxProviders")));
}

}  // namespace
}  // namespace opensandbox
