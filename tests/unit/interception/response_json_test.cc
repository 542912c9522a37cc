#include "client/interception/model_json.h"
#include "tests/unit/interception/fake_provider.h"

namespace opensandbox::internal {
namespace {

using namespace testing;  // NOLINT: this project's
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr RequestShape kR = RequestShape::kResponses;
constexpr RequestShape kC = RequestShape::kChatCompletions;

TEST(ReadTurnTest, FindsOnlyCallsOfTheStandIn) {
  const auto turn = ReadTurn(kR, Output(MessageItem() + "," + CodeCall("c1", "1") + "," + CodeCall("c2", "2")));
  ASSERT_THAT(turn, IsOk());
  EXPECT_THAT(turn->calls, ElementsAre(ToolCall{"c1", R"({"code":"1"})", "1"}, ToolCall{"c2", R"({"code":"2"})", "2"}));
  EXPECT_FALSE(turn->has_client_calls);
}

TEST(ReadTurnTest, NoticesTheClientsTools) {
  EXPECT_TRUE(ReadTurn(kR, Output(CodeCall("c1", "1") + "," + FunctionCallItem("c2", "{}", "f")))->has_client_calls);
  EXPECT_TRUE(ReadTurn(kR, Output(R"({"type":"custom_tool_call","name":"x"})"))->has_client_calls);
  EXPECT_FALSE(ReadTurn(kR, Output(R"({"type":"web_search_call"})"))->has_client_calls);
  const std::string calls = R"(,"tool_calls":[)" + ChatCall("a", "1") + "," + ChatCall("b", "1", "f") + "]";
  EXPECT_TRUE(ReadTurn(kC, ChatAnswer(calls))->has_client_calls);
}

TEST(ReadTurnTest, ReadsTheFirstChoiceOfAChat) {
  const auto turn = ReadTurn(kC, ChatAnswer(R"(,"content":null,"tool_calls":[)" + ChatCall("a", "1") + "]"));
  ASSERT_THAT(turn, IsOk());
  EXPECT_THAT(turn->calls, ElementsAre(ToolCall{"a", R"({"code":"1"})", "1"}));
}

TEST(ReadTurnTest, ArgumentsThatAreNoObjectWithCodeAreTold) {
  for (const char* arguments :
       {"", "nonsense", "[1]", "null", R"(\"x\")", "{}", R"({\"code\":null})", R"({\"code\":1})"}) {
    const auto turn = ReadTurn(kR, Output(FunctionCallItem("c", arguments)));
    ASSERT_THAT(turn, IsOk());
    ASSERT_EQ(turn->calls.size(), 1u) << arguments;
    EXPECT_EQ(turn->calls[0].code, std::nullopt) << arguments;
  }
}

TEST(ReadTurnTest, ArgumentsGivenAsAnObjectAreEncoded) {
  const auto turn = ReadTurn(kC, ChatAnswer(R"(,"tool_calls":[{"id":"a","type":"function","function":)"
                                            R"({"name":"litellm_code_execution","arguments":{"code":"1"}}}])"));
  EXPECT_THAT(turn->calls, ElementsAre(ToolCall{"a", R"({"code":"1"})", "1"}));
}

TEST(ReadTurnTest, TheFingerprintSeesCodeAndNothingElse) {
  const auto fingerprint = [](const std::string& items) { return ReadTurn(kR, Output(items))->fingerprint; };
  EXPECT_EQ(fingerprint(CodeCall("c1", "1")), fingerprint(CodeCall("c2", "1")));
  EXPECT_EQ(fingerprint(CodeCall("c1", "1")), fingerprint(FunctionCallItem("c", R"({ \"x\": 1, \"code\": \"1\" })")));
  EXPECT_NE(fingerprint(CodeCall("c1", "1")), fingerprint(CodeCall("c1", "2")));
  EXPECT_NE(fingerprint(CodeCall("c1", "1")), fingerprint(CodeCall("c1", "1") + "," + CodeCall("c2", "1")));
}

TEST(ReadTurnTest, AnswersWithoutAListOfCallsHaveNone) {
  for (const char* answer :
       {"{}", R"({"output":5})", R"({"choices":[]})", R"({"choices":[{"message":null}]})", R"({"output":[1]})"}) {
    EXPECT_THAT(ReadTurn(kR, answer)->calls, IsEmpty());
    EXPECT_THAT(ReadTurn(kC, answer)->calls, IsEmpty());
  }
  EXPECT_THAT(ReadTurn(kR, "oops"), FailsWith(ErrorKind::kProtocol));
  EXPECT_THAT(ReadTurn(kR, "[]"), FailsWith(ErrorKind::kProtocol));
}

CodeInterpreterCall Record(std::string id, std::string output = "o", bool failed = false) {
  return {std::move(id), "c", "code", "sb-1", std::move(output), failed};
}

TEST(FinalResponseTest, RecordsStandBeforeTheFirstMessageInTheirOrder) {
  const auto final = FinalResponse(kR, Output(R"({"type":"reasoning"},)" + MessageItem("a") + "," + MessageItem("b")),
                                   {Record("ci_1"), Record("ci_2", "")});
  ASSERT_THAT(final, IsOk());
  EXPECT_EQ(*final, Output(R"({"type":"reasoning"},)"
                           R"({"id":"ci_1","type":"code_interpreter_call","status":"completed","code":"code",)"
                           R"("container_id":"sb-1","outputs":[{"type":"logs","logs":"o"}]},)"
                           R"({"id":"ci_2","type":"code_interpreter_call","status":"completed","code":"code",)"
                           R"("container_id":"sb-1","outputs":[]},)" +
                           MessageItem("a") + "," + MessageItem("b")));
}

TEST(FinalResponseTest, WithoutAMessageTheyStandAtTheEnd) {
  const auto final = FinalResponse(kR, Output(R"({"type":"reasoning"})"), {Record("ci_1", "o", true)});
  EXPECT_THAT(*final,
              HasSubstr(R"([{"type":"reasoning"},{"id":"ci_1","type":"code_interpreter_call","status":"failed")"));
}

TEST(FinalResponseTest, CallsOfTheStandInNeverReachTheClient) {
  EXPECT_EQ(*FinalResponse(kR, Output(CodeCall("c1", "1") + "," + FunctionCallItem("c2", "{}", "f")), {}),
            Output(FunctionCallItem("c2", "{}", "f")));
  EXPECT_EQ(
      *FinalResponse(kC, ChatAnswer(R"(,"content":"x","tool_calls":[)" + ChatCall("a", "1") + "]", "tool_calls"), {}),
      ChatAnswer(R"(,"content":"x")"));
  EXPECT_EQ(
      *FinalResponse(
          kC, ChatAnswer(R"(,"tool_calls":[)" + ChatCall("a", "1") + "," + ChatCall("b", "1", "f") + "]", "tool_calls"),
          {}),
      ChatAnswer(R"(,"tool_calls":[)" + ChatCall("b", "1", "f") + "]", "tool_calls"));
}

TEST(FinalResponseTest, OtherChoicesOfAChatAreCleanedToo) {
  const std::string choice = R"({"message":{"role":"assistant","tool_calls":[)" + ChatCall("a", "1") + "]}}";
  EXPECT_EQ(*FinalResponse(kC, R"({"choices":[)" + choice + "," + choice + "]}", {}),
            R"({"choices":[{"message":{"role":"assistant"}},{"message":{"role":"assistant"}}]})");
}

TEST(FinalResponseTest, AChatAnswerCarriesItsRecords) {
  const auto final = FinalResponse(kC, ChatAnswer(R"(,"content":"x")"), {Record("ci_1")});
  EXPECT_THAT(*final,
              HasSubstr(R"("content":"x","provider_specific_fields":{"code_interpreter_calls":[{"id":"ci_1",)"));
}

TEST(FinalResponseTest, AnAnswerWithoutAnOutputListIsLeft) {
  EXPECT_EQ(*FinalResponse(kR, R"({"error":{"message":"no"}})", {Record("ci_1")}), R"({"error":{"message":"no"}})");
  EXPECT_THAT(FinalResponse(kR, "no", {}), FailsWith(ErrorKind::kProtocol));
}

}  // namespace
}  // namespace opensandbox::internal
