#include <nlohmann/json.hpp>

#include "tests/unit/interception/fake_provider.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class AgenticLoopTest : public InterceptionTest {};

TEST_F(AgenticLoopTest, RunsTheCodeAndTellsTheModelItsOutput) {
  model_.Then(Output(CodeCall("c1", "print(42)"))).Then(Output(MessageItem()));
  provider_->on_run = [](const std::string&, const RunCodeRequest&) { return Printed("42\n"); };
  const Result<LoopResult> result = Loop(ResponsesRequest());
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->end, LoopEnd::kAnswer);
  EXPECT_EQ(result->model_calls, 2);
  ASSERT_THAT(model_.requests(), SizeIs(2));
  EXPECT_EQ(model_.requests()[0], std::string(R"({"model":"m","input":"hi","tools":[)") + kFunctionTool + "]}");
  EXPECT_EQ(model_.requests()[1],
            R"({"model":"m","input":[{"role":"user","content":"hi"},)" + CodeCall("c1", "print(42)") +
                R"(,{"type":"function_call_output","call_id":"c1","output":"42\n"}],"tools":[)" + kFunctionTool + "]}");
  ASSERT_THAT(result->calls, SizeIs(1));
  const CodeInterpreterCall& call = result->calls[0];
  EXPECT_THAT(call.id, ::testing::MatchesRegex("ci_[0-9a-f]+"));
  EXPECT_EQ(call.id.size(), 35u);
  EXPECT_EQ(result->response_json,
            Output(R"({"id":")" + call.id + R"(","type":"code_interpreter_call","status":"completed",)" +
                   R"x("code":"print(42)","container_id":"sb-1","outputs":[{"type":"logs","logs":"42\n"}]},)x" +
                   MessageItem()));
  EXPECT_THAT(provider_->events(), ElementsAre("create sb-1", "run sb-1 print(42)", "delete sb-1"));
}

TEST_F(AgenticLoopTest, ChatCompletionsGetToolMessages) {
  const std::string turn = R"("role":"assistant","content":null,"tool_calls":[)" + ChatCall("a", "1") + "]";
  model_.Then(R"({"choices":[{"message":{)" + turn + R"(},"finish_reason":"tool_calls"}]})")
      .Then(ChatAnswer(R"(,"content":"done")"));
  const Result<LoopResult> result = Chat(ChatRequest());
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->end, LoopEnd::kAnswer);
  EXPECT_EQ(model_.requests()[1], R"({"model":"m","messages":[{"role":"user","content":"hi"},{)" + turn +
                                      R"(},{"role":"tool","tool_call_id":"a","content":"1"}],"tools":[)" +
                                      kChatFunctionTool + "]}");
  EXPECT_THAT(result->response_json, HasSubstr(R"("code_interpreter_calls":[{"id":"ci_)"));
}

TEST_F(AgenticLoopTest, OneSandboxServesAllRoundsOfARequest) {
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(CodeCall("c2", "2"))).Then(Output(MessageItem()));
  const Result<LoopResult> result = Loop(ResponsesRequest());
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(provider_->events(), ElementsAre("create sb-1", "run sb-1 1", "run sb-1 2", "delete sb-1"));
  // The records of all rounds, in the order of running, once.
  const auto output = nlohmann::json::parse(result->response_json)["output"];
  ASSERT_EQ(output.size(), 3u);
  EXPECT_EQ(output[0]["code"], "1");
  EXPECT_EQ(output[1]["code"], "2");
  EXPECT_EQ(output[2]["type"], "message");
}

TEST_F(AgenticLoopTest, EachCallOfATurnHasItsOwnResult) {
  model_
      .Then(Output(CodeCall("c1", "1") + "," + CodeCall("c2", "2") + "," + FunctionCallItem("c3", "[1]") + "," +
                   CodeCall("c4", "4")))
      .Then(Output(MessageItem()));
  provider_->on_run = [](const std::string&, const RunCodeRequest& request) -> Result<CodeExecutionResult> {
    if (request.code == "2") return MakeError(ErrorKind::kStreamTruncated, "cut", Outcome::kHappened);
    return Printed(request.code + "!");
  };
  const Result<LoopResult> result = Loop(ResponsesRequest());
  ASSERT_THAT(result, IsOk());
  const auto input = nlohmann::json::parse(model_.requests()[1])["input"];
  ASSERT_EQ(input.size(), 9u);
  EXPECT_EQ(input[2]["output"], "1!");
  EXPECT_EQ(input[4]["output"], "[sandbox error] the output broke off; the code may not have run to its end");
  EXPECT_EQ(input[6]["output"], "[invalid tool arguments: could not parse code]");
  EXPECT_EQ(input[8]["output"], "4!");
  ASSERT_THAT(result->calls, SizeIs(3));  // what was not run is not recorded
  EXPECT_TRUE(result->calls[1].failed);
  EXPECT_FALSE(result->calls[2].failed);
}

TEST_F(AgenticLoopTest, InvalidArgumentsNeedNoSandbox) {
  model_.Then(Output(FunctionCallItem("c1", "oops"))).Then(Output(MessageItem()));
  EXPECT_THAT(Loop(ResponsesRequest()), IsOk());
  EXPECT_THAT(provider_->events(), IsEmpty());
}

TEST_F(AgenticLoopTest, OtherItemsOfTheTurnAreKeptInOrder) {
  model_.Then(Output(R"({"type":"reasoning","id":"r1"},)" + CodeCall("c1", "1") + "," + MessageItem("thinking")))
      .Then(Output(MessageItem()));
  ASSERT_THAT(Loop(ResponsesRequest()), IsOk());
  const auto input = nlohmann::json::parse(model_.requests()[1])["input"];
  ASSERT_EQ(input.size(), 5u);
  EXPECT_EQ(input[1]["id"], "r1");
  EXPECT_EQ(input[2]["call_id"], "c1");
  EXPECT_EQ(input[3]["type"], "function_call_output");
  EXPECT_EQ(input[4]["type"], "message");
}

TEST_F(AgenticLoopTest, ATurnThatAlsoCallsTheClientsToolIsHandedBack) {
  model_.Then(Output(CodeCall("c1", "1") + "," + FunctionCallItem("c2", "{}", "f")));
  const Result<LoopResult> result = Loop(ResponsesRequest());
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->end, LoopEnd::kHandedBack);
  EXPECT_EQ(result->model_calls, 1);
  const auto output = nlohmann::json::parse(result->response_json)["output"];
  ASSERT_EQ(output.size(), 2u);
  EXPECT_EQ(output[0]["type"], "code_interpreter_call");
  EXPECT_EQ(output[0]["outputs"][0]["logs"], "1");
  EXPECT_EQ(output[1]["name"], "f");
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(AgenticLoopTest, AForcedToolChoiceIsForcedOnce) {
  for (const char* choice : {R"({"type":"code_interpreter"})", R"("required")"}) {
    ScriptedModel model;
    model.Then(Output(CodeCall("c1", "1"))).Then(Output(MessageItem()));
    ModelRequest request;
    request.json = ResponsesRequest(R"(,"tool_choice":)" + std::string(choice));
    ASSERT_THAT(handler().RunAgenticLoop(request, model.caller()), IsOk());
    EXPECT_THAT(model.requests()[0], HasSubstr("tool_choice"));
    EXPECT_THAT(model.requests()[1],
                ::testing::AnyOf(Not(HasSubstr("tool_choice")), HasSubstr(R"("tool_choice":"auto")")));
  }
}

TEST_F(AgenticLoopTest, RequestsWithoutTheToolPassThrough) {
  const std::string body =
      R"({"model":"m","stream":true,"tools":[{"type":"function","name":"litellm_code_execution"}]})";
  model_.Then(Output(CodeCall("c1", "1")));
  const Result<LoopResult> result = Loop(body);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->end, LoopEnd::kNotIntercepted);
  EXPECT_EQ(model_.requests()[0], body);
  EXPECT_EQ(result->response_json, Output(CodeCall("c1", "1")));  // its own tool of that name, its own call
  EXPECT_FALSE(result->stream_requested);
  EXPECT_THAT(provider_->events(), IsEmpty());
}

TEST_F(AgenticLoopTest, AForgedMarkerOpensNoSandbox) {
  model_.Then(Output(CodeCall("c1", "1")));
  const Result<LoopResult> result =
      Loop(R"({"model":"m","_code_interpreter_interception_active":true,"_agentic_loop_depth":1,)"
           R"("litellm_metadata":{"_code_interpreter_interception_active":true}})");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(model_.requests()[0], R"({"model":"m"})");
  EXPECT_THAT(provider_->events(), IsEmpty());
}

TEST_F(AgenticLoopTest, AStreamIsAskedForAsAWholeAndRemembered) {
  model_.Then(ChatAnswer(R"(,"content":"x")"));
  const Result<LoopResult> result = Chat(ChatRequest(R"(,"stream":true)"));
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->stream_requested);
  EXPECT_THAT(model_.requests()[0], HasSubstr(R"("stream":false)"));
  EXPECT_EQ(result->response_json, ChatAnswer(R"(,"content":"x")"));  // no fake stream
}

TEST_F(AgenticLoopTest, DisabledOrForeignModelsPassThrough) {
  options_.enabled_providers = {{"openai"}};
  model_.Then(Output("")).Then(Output("")).Then(Output(""));
  ModelRequest request;
  request.json = ResponsesRequest();
  request.model_provider = "anthropic";
  EXPECT_EQ(handler().RunAgenticLoop(request, model_.caller())->end, LoopEnd::kNotIntercepted);
  request.model_provider = "openai";
  EXPECT_EQ(handler().RunAgenticLoop(request, model_.caller())->end, LoopEnd::kAnswer);
  request.model_provider = "";
  request.json = R"({"model":"openai/gpt","tools":[{"type":"code_interpreter"}]})";
  EXPECT_EQ(handler().RunAgenticLoop(request, model_.caller())->end, LoopEnd::kAnswer);
  EndHandler();
  options_.enabled = false;
  model_.Then(Output(""));
  EXPECT_EQ(Loop(ResponsesRequest())->end, LoopEnd::kNotIntercepted);
  EXPECT_EQ(model_.requests().back(), ResponsesRequest());
}

TEST_F(AgenticLoopTest, ASandboxThatCannotBeMadeIsToldToTheModel) {
  provider_->on_create = [](const CreateSandboxRequest&) {
    return MakeError(ErrorKind::kTransport, "10.0.0.1 refused");
  };
  model_.Then(Output(CodeCall("c1", "1") + "," + CodeCall("c2", "2"))).Then(Output(MessageItem("sorry")));
  const Result<LoopResult> result = Loop(ResponsesRequest());
  ASSERT_THAT(result, IsOk());
  const auto input = nlohmann::json::parse(model_.requests()[1])["input"];
  EXPECT_EQ(input[2]["output"], "[sandbox error] the sandbox could not be reached");
  EXPECT_EQ(input[4]["output"], "[sandbox error] the sandbox could not be reached");
  EXPECT_THAT(result->response_json, Not(HasSubstr("litellm_code_execution")));
  EXPECT_THAT(result->response_json, HasSubstr(R"("status":"failed")"));
}

TEST_F(AgenticLoopTest, ByPolicyASandboxFailureFailsTheRequest) {
  options_.on_sandbox_failure = SandboxFailurePolicy::kFailRequest;
  provider_->on_run = [](const std::string&, const RunCodeRequest&) { return MakeError(ErrorKind::kTransport); };
  model_.Then(Output(CodeCall("c1", "1")));
  EXPECT_THAT(Loop(ResponsesRequest()), FailsWith(ErrorKind::kTransport));
  EXPECT_THAT(provider_->live(), IsEmpty());
}

// --- guards
// -----------------------------------------------------------------------------------------------------------

TEST_F(AgenticLoopTest, TheRoundLimitIsExact) {
  for (const int rounds : {2, 3, 4}) {  // the limit is 3
    ScriptedModel model;
    for (int i = 1; i <= rounds; ++i) model.Then(Output(CodeCall("c", std::to_string(i))));
    model.Then(Output(MessageItem()));
    ModelRequest request;
    request.json = ResponsesRequest();
    const Result<LoopResult> result = handler().RunAgenticLoop(request, model.caller());
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->end, rounds <= 3 ? LoopEnd::kAnswer : LoopEnd::kLoopLimit) << rounds;
    EXPECT_EQ(result->calls.size(), static_cast<std::size_t>(std::min(rounds, 3)));
    EXPECT_EQ(model.requests().back().find(R"("tools")") != std::string::npos, rounds <= 3);
    if (rounds > 3) {
      EXPECT_EQ(result->loop_limit, "Exceeded max_agentic_loops=3 for model=m");
      EXPECT_THAT(model.requests().back(), HasSubstr("[not run: no more code can be run for this request]"));
    }
  }
}

TEST_F(AgenticLoopTest, EqualCodeUnderAnotherIdIsALoop) {
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(CodeCall("c2", "1"))).Then(Output(MessageItem()));
  const Result<LoopResult> result = Loop(ResponsesRequest(R"(,"tool_choice":"auto","parallel_tool_calls":true)"));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->end, LoopEnd::kLoopLimit);
  EXPECT_EQ(result->loop_limit, "Agentic loop detected repeated tool-call fingerprint; aborting rerun");
  EXPECT_THAT(provider_->runs(), SizeIs(1));
  EXPECT_THAT(model_.requests()[2], AllOf(Not(HasSubstr("tool_choice")), Not(HasSubstr("parallel_tool_calls"))));
}

TEST_F(AgenticLoopTest, TheLastAnswerCannotSmuggleACallOut) {
  options_.max_agentic_loops = 1;
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(CodeCall("c2", "2"))).Then(Output(CodeCall("c3", "3")));
  const Result<LoopResult> result = Loop(ResponsesRequest());
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->end, LoopEnd::kLoopLimit);
  EXPECT_THAT(result->response_json, Not(HasSubstr("litellm_code_execution")));
}

TEST_F(AgenticLoopTest, ByPolicyTheGuardsFailWithTheContractsTexts) {
  options_.at_loop_limit = LoopLimitPolicy::kFailRequest;
  options_.max_agentic_loops = 1;
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(CodeCall("c2", "2")));
  EXPECT_THAT(Loop(ResponsesRequest()), FailsWith(ErrorKind::kInvalidArgument,
                                                  Field(&Error::message, "Exceeded max_agentic_loops=1 for model=m")));
  EXPECT_THAT(provider_->live(), IsEmpty());
  ScriptedModel model;
  model.Then(Output(CodeCall("c1", "1"))).Then(Output(CodeCall("c2", "1")));
  ModelRequest request;
  request.json = ResponsesRequest();
  EXPECT_THAT(
      handler().RunAgenticLoop(request, model.caller()),
      FailsWith(ErrorKind::kInvalidArgument,
                Field(&Error::message, "Agentic loop detected repeated tool-call fingerprint; aborting rerun")));
}

TEST_F(AgenticLoopTest, ALimitBelowOneIsRefused) {
  options_.max_agentic_loops = 0;
  EXPECT_THAT(Loop(ResponsesRequest()),
              FailsWith(ErrorKind::kInvalidArgument,
                        Field(&Error::message, "litellm_params.max_agentic_loops must be at least 1, got 0")));
  EXPECT_THAT(model_.requests(), IsEmpty());
}

// --- every way out deletes
// ----------------------------------------------------------------------------------------------

TEST_F(AgenticLoopTest, AFailureOfTheModelIsReturnedAndTheSandboxDeleted) {
  model_.Then(Output(CodeCall("c1", "1"))).Fails(MakeError(ErrorKind::kApi, "overloaded"));
  EXPECT_THAT(Loop(ResponsesRequest()), FailsWith(ErrorKind::kApi, Field(&Error::message, "overloaded")));
  EXPECT_THAT(provider_->events(), ElementsAre("create sb-1", "run sb-1 1", "delete sb-1"));
}

TEST_F(AgenticLoopTest, AnAnswerThatIsNoJsonIsAProtocolErrorAndTheSandboxDeleted) {
  model_.Then(Output(CodeCall("c1", "1"))).Then("<html>");
  EXPECT_THAT(Loop(ResponsesRequest()), FailsWith(ErrorKind::kProtocol));
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(AgenticLoopTest, CancellationEndsTheLoopAndDeletes) {
  std::stop_source source;
  ModelRequest request;
  request.json = ResponsesRequest();
  request.stop = source.get_token();
  model_.Then(Output(CodeCall("c1", "1")));
  provider_->on_run = [&](const std::string&, const RunCodeRequest& run) -> Result<CodeExecutionResult> {
    source.request_stop();
    EXPECT_TRUE(run.stop.stop_requested());  // it is the request's own token
    return MakeError(ErrorKind::kCancelled);
  };
  EXPECT_THAT(handler().RunAgenticLoop(request, model_.caller()), FailsWith(ErrorKind::kCancelled));
  EXPECT_THAT(provider_->events(), ElementsAre("create sb-1", "run sb-1 1", "delete sb-1"));
  EXPECT_FALSE(provider_->deletes()[0].stop.stop_possible());  // a clean-up cannot be cancelled
}

TEST_F(AgenticLoopTest, CancellationBetweenTheCallsOfTheModelDeletes) {
  std::stop_source source;
  ModelRequest request;
  request.json = ResponsesRequest();
  request.stop = source.get_token();
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(MessageItem()));
  provider_->on_run = [&](const std::string&, const RunCodeRequest&) {
    source.request_stop();
    return Printed("x");
  };
  EXPECT_THAT(handler().RunAgenticLoop(request, model_.caller()), FailsWith(ErrorKind::kCancelled));
  EXPECT_THAT(model_.requests(), SizeIs(1));
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(AgenticLoopTest, AnExceptionOfTheHostsDeletes) {
  model_.Then(Output(CodeCall("c1", "1")));
  model_.before = [](std::size_t call) {
    if (call == 2) throw std::runtime_error("host");
  };
  EXPECT_THROW((void)Loop(ResponsesRequest()), std::runtime_error);
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(AgenticLoopTest, AFailedDeleteReachesTheLeakSinkAndHidesNothing) {
  provider_->delete_error = MakeError(ErrorKind::kTransport);
  model_.Then(Output(CodeCall("c1", "1"))).Then(Output(MessageItem()));
  EXPECT_THAT(Loop(ResponsesRequest()), IsOk());
  ASSERT_THAT(leaks_.Leaks(), SizeIs(1));
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "sb-1");
  EXPECT_FALSE(provider_->deletes()[0].report_leak);  // reported once
}

TEST_F(AgenticLoopTest, AnAbandonedRequestDeletesItsSandbox) {
  ModelRequest request;
  request.json = ResponsesRequest();
  {
    Result<InterceptedRequest> pre_call = handler().PreCall(request);
    ASSERT_THAT(pre_call, IsOk());
    ASSERT_THAT(handler().BuildFollowUp(*pre_call, Output(CodeCall("c1", "1"))), IsOk());
    EXPECT_THAT(provider_->live(), ElementsAre("sb-1"));
    InterceptedRequest moved = *std::move(pre_call);
    EXPECT_THAT(provider_->live(), ElementsAre("sb-1"));
  }
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(AgenticLoopTest, TheSingleStepsMakeALoopToo) {
  ModelRequest request;
  request.json = ResponsesRequest(R"(,"stream":true)");
  Result<InterceptedRequest> pre_call = handler().PreCall(request);
  ASSERT_THAT(pre_call, IsOk());
  EXPECT_TRUE(pre_call->intercepted());
  EXPECT_TRUE(pre_call->stream_requested());
  EXPECT_THAT(handler().FindToolCalls(*pre_call, Output(CodeCall("c1", "1"))), IsOkAndHolds(SizeIs(1)));
  ASSERT_THAT(handler().BuildFollowUp(*pre_call, Output(CodeCall("c1", "1"))), IsOk());
  EXPECT_EQ(pre_call->follow_ups(), 1);
  EXPECT_THAT(pre_call->json(), HasSubstr("function_call_output"));
  EXPECT_THAT(handler().FindToolCalls(*pre_call, Output(MessageItem())), IsOkAndHolds(IsEmpty()));
  const Result<std::string> final = handler().Finish(*pre_call, Output(MessageItem()));
  ASSERT_THAT(final, IsOk());
  EXPECT_THAT(*final, HasSubstr("code_interpreter_call"));
  EXPECT_THAT(provider_->live(), IsEmpty());
}

TEST_F(AgenticLoopTest, CallsWithoutIdsGetSome) {
  model_.Then(Output(R"({"type":"function_call","name":"litellm_code_execution","arguments":"{\"code\":\"1\"}"})"))
      .Then(Output(MessageItem()));
  ASSERT_THAT(Loop(ResponsesRequest()), IsOk());
  const auto input = nlohmann::json::parse(model_.requests()[1])["input"];
  EXPECT_EQ(input[1]["call_id"], "call_1_1");
  EXPECT_EQ(input[2]["call_id"], "call_1_1");
}

}  // namespace
}  // namespace opensandbox
