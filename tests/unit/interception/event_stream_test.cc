#include "opensandbox/interception/event_stream.h"

#include "tests/unit/interception/fake_provider.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's

TEST(EventStreamTest, AResponsesAnswerBecomesItsEvents) {
  const std::string message =
      R"({"type":"message","id":"m1","status":"completed","content":[{"type":"output_text","text":"hi"}]})";
  const std::string response = R"({"id":"r","status":"completed","output":[)" + message + R"(],"usage":{"x":1}})";
  const std::string begun = R"({"id":"r","status":"in_progress","output":[]})";
  const auto event = [n = 0](const std::string& type, const std::string& rest) mutable {
    return "event: " + type + "\ndata: {\"type\":\"" + type + "\",\"sequence_number\":" + std::to_string(n++) + "," +
           rest + "}\n\n";
  };
  auto e = event;
  std::string expected;
  expected += e("response.created", R"("response":)" + begun);
  expected += e("response.in_progress", R"("response":)" + begun);
  expected += e("response.output_item.added",
                R"("output_index":0,"item":{"type":"message","id":"m1","status":"in_progress","content":[]})");
  expected += e("response.content_part.added",
                R"("item_id":"m1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""})");
  expected += e("response.output_text.delta", R"("item_id":"m1","output_index":0,"content_index":0,"delta":"hi")");
  expected += e("response.output_text.done", R"("item_id":"m1","output_index":0,"content_index":0,"text":"hi")");
  expected += e("response.content_part.done",
                R"("item_id":"m1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hi"})");
  expected += e("response.output_item.done", R"("output_index":0,"item":)" + message);
  expected += e("response.completed", R"("response":)" + response);
  EXPECT_THAT(ToEventStream(RequestShape::kResponses, response), IsOkAndHolds(expected));
}

TEST(EventStreamTest, AFunctionCallTellsItsArguments) {
  const auto stream =
      ToEventStream(RequestShape::kResponses,
                    R"({"output":[{"type":"function_call","id":"f","arguments":"{}"}],"status":"incomplete"})");
  ASSERT_THAT(stream, IsOk());
  EXPECT_THAT(*stream, ::testing::HasSubstr(R"("item_id":"f","output_index":0,"delta":"{}"})"));
  EXPECT_THAT(*stream, ::testing::HasSubstr("event: response.incomplete\n"));
}

TEST(EventStreamTest, AChatAnswerBecomesChunks) {
  const std::string response =
      R"({"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi",)"
      R"("refusal":null,"tool_calls":[{"id":"t"}]},"finish_reason":"tool_calls"}],"usage":{"total_tokens":3}})";
  const auto chunk = [](const std::string& delta, const std::string& finish = "null") {
    return R"(data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":)" + delta +
           R"(,"finish_reason":)" + finish + "}]}\n\n";
  };
  const std::string body = chunk(R"({"role":"assistant","content":""})") + chunk(R"({"content":"hi"})") +
                           chunk(R"({"tool_calls":[{"id":"t","index":0}]})") + chunk("{}", R"("tool_calls")");
  EXPECT_THAT(ToEventStream(RequestShape::kChatCompletions, response), IsOkAndHolds(body + "data: [DONE]\n\n"));
  EXPECT_THAT(
      ToEventStream(RequestShape::kChatCompletions, response, true),
      IsOkAndHolds(body + R"(data: {"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"total_tokens":3}})"
                          "\n\ndata: [DONE]\n\n"));
}

TEST(EventStreamTest, OtherBodiesAreRefusedOrEndAtOnce) {
  EXPECT_THAT(ToEventStream(RequestShape::kResponses, "nope"), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(ToEventStream(RequestShape::kChatCompletions, "[]"), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(ToEventStream(RequestShape::kChatCompletions, "{}"), IsOkAndHolds("data: [DONE]\n\n"));
}

}  // namespace
}  // namespace opensandbox
