#include "client/interception/model_json.h"
#include "tests/unit/interception/fake_provider.h"

namespace opensandbox::internal {
namespace {

using namespace testing;  // NOLINT: this project's
using ::testing::AllOf;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

struct Row {
  const char* name;
  RequestShape shape;
  std::string before;
  std::string after;
};
void PrintTo(const Row& row, std::ostream* os) { *os << row.name; }

class RequestRewriteTest : public ::testing::TestWithParam<Row> {};

TEST_P(RequestRewriteTest, BecomesExactly) {
  const auto rewritten = RewriteRequest(GetParam().shape, GetParam().before, true);
  ASSERT_THAT(rewritten, IsOk());
  EXPECT_EQ(rewritten->json, GetParam().after);
}

const std::string kTool = kFunctionTool;
const std::string kChatTool = kChatFunctionTool;
constexpr RequestShape kR = RequestShape::kResponses;
constexpr RequestShape kC = RequestShape::kChatCompletions;

INSTANTIATE_TEST_SUITE_P(
    Tools, RequestRewriteTest,
    ::testing::Values(
        Row{"ResponsesTool", kR, R"({"model":"m","tools":[{"type":"code_interpreter","container":{"type":"auto"}}]})",
            R"({"model":"m","tools":[)" + kTool + "]}"},
        Row{"ChatTool", kC, R"({"model":"m","tools":[{"type":"code_interpreter"}]})",
            R"({"model":"m","tools":[)" + kChatTool + "]}"},
        Row{"OtherToolsKeepTheirPlaces", kR,
            R"({"tools":[{"type":"web_search"},{"type":"code_interpreter"},{"type":"function","name":"f"}]})",
            R"({"tools":[{"type":"web_search"},)" + kTool + R"(,{"type":"function","name":"f"}]})"},
        Row{"TwoInterpretersBecomeOneFunction", kR,
            R"({"tools":[{"type":"code_interpreter"},{"type":"code_interpreter"}]})", R"({"tools":[)" + kTool + "]}"},
        Row{"WithoutTheToolNothingChanges", kR, R"({"tools":[{"type":"function","name":"f"}],"stream":true})",
            R"({"tools":[{"type":"function","name":"f"}],"stream":true})"},
        Row{"ToolsThatAreNoListAreLeft", kR, R"({"tools":"code_interpreter"})", R"({"tools":"code_interpreter"})"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    ToolChoice, RequestRewriteTest,
    ::testing::Values(
        Row{"ResponsesByType", kR,
            R"({"tools":[{"type":"code_interpreter"}],"tool_choice":{"type":"code_interpreter"}})",
            R"({"tools":[)" + kTool + R"(],"tool_choice":{"type":"function","name":"litellm_code_execution"}})"},
        Row{"ResponsesByName", kR,
            R"({"tools":[{"type":"code_interpreter"}],"tool_choice":{"type":"x","name":"code_interpreter"}})",
            R"({"tools":[)" + kTool + R"(],"tool_choice":{"type":"function","name":"litellm_code_execution"}})"},
        Row{"ChatByType", kC, R"({"tools":[{"type":"code_interpreter"}],"tool_choice":{"type":"code_interpreter"}})",
            R"({"tools":[)" + kChatTool +
                R"(],"tool_choice":{"type":"function","function":{"name":"litellm_code_execution"}}})"},
        Row{"ChatByFunctionName", kC,
            R"({"tools":[{"type":"code_interpreter"}],"tool_choice":{"type":"function","function":{"name":"litellm_code_execution"}}})",
            R"({"tools":[)" + kChatTool +
                R"(],"tool_choice":{"type":"function","function":{"name":"litellm_code_execution"}}})"},
        Row{"AutoStays", kR, R"({"tools":[{"type":"code_interpreter"}],"tool_choice":"auto"})",
            R"({"tools":[)" + kTool + R"(],"tool_choice":"auto"})"},
        Row{"AnotherFunctionStays", kR,
            R"({"tools":[{"type":"code_interpreter"}],"tool_choice":{"type":"function","name":"f"}})",
            R"({"tools":[)" + kTool + R"(],"tool_choice":{"type":"function","name":"f"}})"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    ControlFields, RequestRewriteTest,
    ::testing::Values(
        Row{"GoFromTheRoot", kR,
            R"({"_agentic_loop_depth":1,"_agentic_loop_fingerprints":[],"_code_interpreter_interception_active":true,)"
            R"("_code_interpreter_interception_sandbox_key":"k","_code_interpreter_interception_session_scoped":true,)"
            R"("_code_interpreter_interception_converted_stream":true,"max_agentic_loops":99,"model":"m"})",
            R"({"model":"m"})"},
        Row{"GoFromTheMetadata", kR,
            R"({"litellm_metadata":{"_websearch_interception_x":1,"keep":1},"metadata":{"_agentic_loop_depth":1,"a":"b"}})",
            R"({"litellm_metadata":{"keep":1},"metadata":{"a":"b"}})"},
        Row{"MetadataOfNothingElseGoes", kR, R"({"litellm_metadata":{"max_agentic_loops":9},"metadata":{}})",
            R"({"metadata":{}})"}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    History, RequestRewriteTest,
    ::testing::Values(
        Row{"RecordsBecomeTheCallsTheyWere", kR,
            R"({"input":[{"type":"code_interpreter_call","id":"ci_1","status":"completed","code":"1","container_id":"sb",)"
            R"("outputs":[{"type":"logs","logs":"o"}]},{"role":"user","content":"go on"}],)"
            R"("tools":[{"type":"code_interpreter"}]})",
            R"({"input":[{"type":"function_call","call_id":"ci_1","name":"litellm_code_execution",)"
            R"("arguments":"{\"code\":\"1\"}"},{"type":"function_call_output","call_id":"ci_1","output":"o"},)"
            R"({"role":"user","content":"go on"}],"tools":[)" +
                kTool + "]}"},
        Row{"ChatRecordsGo", kC,
            R"({"messages":[{"role":"assistant","content":"a","provider_specific_fields":{"code_interpreter_calls":[1]}}],)"
            R"("tools":[{"type":"code_interpreter"}]})",
            R"({"messages":[{"role":"assistant","content":"a"}],"tools":[)" + kChatTool + "]}"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RequestRewriteFlagsTest, StreamingIsTurnedOffAndRemembered) {
  const auto rewritten =
      RewriteRequest(kC, ChatRequest(R"(,"stream":true,"stream_options":{"include_usage":true})"), true);
  ASSERT_THAT(rewritten, IsOk());
  EXPECT_TRUE(rewritten->stream_requested);
  EXPECT_TRUE(rewritten->stream_usage_requested);
  EXPECT_THAT(rewritten->json, AllOf(HasSubstr(R"("stream":false)"), Not(HasSubstr("stream_options"))));
  const auto plain = RewriteRequest(kC, ChatRequest(R"(,"stream":false)"), true);
  EXPECT_FALSE(plain->stream_requested);
  EXPECT_TRUE(plain->intercepted);
}

TEST(RequestRewriteFlagsTest, NothingIsReplacedWhereInterceptionDoesNotApply) {
  const auto rewritten = RewriteRequest(kR, ResponsesRequest(R"(,"stream":true,"max_agentic_loops":5)"), false);
  ASSERT_THAT(rewritten, IsOk());
  EXPECT_FALSE(rewritten->intercepted);
  EXPECT_EQ(rewritten->json, ResponsesRequest(R"(,"stream":true)"));
}

TEST(RequestRewriteFlagsTest, TheSessionIdComesFromMetadataThenLitellmMetadata) {
  const auto session = [](const std::string& more) {
    return RewriteRequest(kR, ResponsesRequest(more), true)->session_id;
  };
  EXPECT_EQ(session(R"(,"litellm_metadata":{"session_id":"b"},"metadata":{"session_id":"a"})"), "a");
  EXPECT_EQ(session(R"(,"litellm_metadata":{"session_id":"b"},"metadata":{"session_id":""})"), "b");
  EXPECT_EQ(session(R"(,"metadata":{"session_id":5})"), "");
  EXPECT_EQ(session(R"(,"session_id":"c")"), "");
}

TEST(RequestRewriteFlagsTest, BadBodiesAreRefusedWithTheReason) {
  EXPECT_THAT(RewriteRequest(kR, "[1]", true),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("no JSON object"))));
  EXPECT_THAT(RewriteRequest(kR, "{", true), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(
      RewriteRequest(
          kR, R"({"tools":[{"type":"code_interpreter"},{"type":"function","name":"litellm_code_execution"}]})", true),
      FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("reserved"))));
}

TEST(RequestRewriteFlagsTest, NestingIsLimitedExactly) {
  const auto nested = [](int depth) {  // the root object is one level
    return R"({"a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_THAT(RewriteRequest(kR, nested(kJsonDepthMax - 1), true), IsOk());
  EXPECT_THAT(RewriteRequest(kR, nested(kJsonDepthMax), true), IsOk());
  EXPECT_THAT(RewriteRequest(kR, nested(kJsonDepthMax + 1), true),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("256"))));
  // Brackets in strings are text, escaped quotes do not end them.
  EXPECT_EQ(NestingDepth(R"({"a":"[[[\"[[["})"), 1);
}

}  // namespace
}  // namespace opensandbox::internal
