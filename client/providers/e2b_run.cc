#include <memory>
#include <utility>

#include "client/providers/e2b_provider_impl.h"

namespace opensandbox::internal {
namespace {

constexpr std::size_t kErrorBodyBytesMax = 64 << 10;
constexpr Duration kStateLookTime = std::chrono::seconds(5);
constexpr char kNoToken[] =
    "Cannot run code from a sandbox id alone. e2b secure sandboxes require the access token returned by "
    "acreate_sandbox; "
    "pass the ContainerHandle it returned instead of a bare sandbox id.";
// What E2B's proxy answers (502) for a sandbox that is gone; the code never reached one.
constexpr std::string_view kNotFoundByProxy = "The sandbox was not found";

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

struct E2bProvider::RunAttempt {
  explicit RunAttempt(std::uint64_t output_bytes_max) : parser(output_bytes_max, ExecdEventParser::Dialect::kE2b) {}

  int number = 0;
  ExecdEventParser parser;
  int status = 0;  // 0: no answer
  std::vector<HeaderField> headers;
  std::string error_body;
  std::optional<Error> error;  // of the transport
};

Result<CodeExecutionResult> E2bProvider::RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) {
  Result<SandboxHandle> handle = ToHandle(sandbox);
  if (!handle) return std::move(handle).error();
  const std::string id = handle->id;
  const auto named = [&id](Error error) {
    error.operation = "runCode";
    error.sandbox_id = id;
    return error;
  };
  const std::optional<std::string> token = FindHeader(handle->execd_headers, "X-Access-Token");
  if (!token || token->empty()) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = kNoToken;
    return named(std::move(error));
  }
  Result<std::string> body = E2bRunBody(request);
  if (!body) return named(std::move(body).error());
  Result<std::string> api_base = ResolveBase(std::nullopt, &*handle);
  if (!api_base) return named(std::move(api_base).error());
  bool by_headers = false;
  Result<std::string> base = RunBase(*handle, *api_base, by_headers);
  if (!base) return named(std::move(base).error());

  HttpRequest http;
  http.method = "POST";
  http.url = *base + "/execute";
  http.headers = WithEndpointHeaders({{"Content-Type", "application/json"}}, handle->execd_headers);
  if (by_headers) {
    http.headers.push_back({"E2b-Sandbox-Id", id});
    http.headers.push_back({"E2b-Sandbox-Port", std::to_string(kE2bJupyterPort)});
  }
  http.body = *std::move(body);
  // The key is only needed to ask what became of the sandbox.
  const Result<std::string> key = ResolveKey(request.api_key, &*handle);
  Target target{*std::move(handle), {*api_base, key ? *key : "", id, std::nullopt, request.stop}};
  const std::optional<Duration> run_deadline = request.run_deadline ? request.run_deadline : options_.run_deadline;
  if (run_deadline) target.scope.deadline = clock().Now() + *run_deadline;

  for (int number = 1;; ++number) {
    RunAttempt attempt(request.output_bytes_max.value_or(options_.output_bytes_max));
    attempt.number = number;
    StreamRun(attempt, http, request, target.scope.deadline);
    const bool unsent = attempt.error && attempt.status == 0 && attempt.error->outcome == Outcome::kDidNotHappen;
    if (IsSuccess(attempt.status) || (attempt.status == 0 && !unsent)) return Conclude(attempt, target, request);

    Error error = attempt.status != 0 ? ApiError("runCode", attempt.status, attempt.headers, attempt.error_body,
                                                 http.url, clock(), settings_.label)
                                      : std::move(*attempt.error);
    error = named(std::move(error));
    error.attempts = number;
    NameRunClock(error, id, request);
    if (error.kind == ErrorKind::kCancelled) return error;
    if (error.http_status == 502 && error.message.find(kNotFoundByProxy) != std::string::npos) {
      error.kind = ErrorKind::kSandboxGone;
      error.outcome = Outcome::kDidNotHappen;
      error.message = "E2B sandbox " + id + " does not exist any more: " + error.message;
      return error;
    }
    const TimePoint next = clock().Now() + calls_.PauseAfter(error, number);
    if (calls_.policy().MayRetry(error, /*idempotent=*/false, number) &&
        (!target.scope.deadline || next < *target.scope.deadline)) {
      if (PauseUntil(clock(), next, request.stop, "retry pause")) continue;
      Error cancelled = calls_.Cancelled("runCode", id);
      cancelled.attempts = number;
      return cancelled;
    }
    ExplainBySandbox(error, target.scope);
    return error;
  }
}

void E2bProvider::StreamRun(RunAttempt& attempt, const HttpRequest& http, const RunCodeRequest& request,
                            std::optional<TimePoint> deadline) {
  if (request.stop.stop_requested()) {
    attempt.error = calls_.Cancelled("runCode", "");
    return;
  }
  ExchangeOptions options;
  options.deadline = deadline;
  options.connect_timeout = options_.connect_timeout;
  options.idle_timeout = request.idle_timeout ? request.idle_timeout : options_.idle_timeout;
  options.stop = request.stop;
  StreamHandler handler;
  handler.on_headers = [&attempt](int status, const std::vector<HeaderField>& headers) {
    attempt.status = status;
    attempt.headers = headers;
    return StreamAction::kContinue;
  };
  handler.on_bytes = [&attempt](std::string_view bytes) {
    if (!IsSuccess(attempt.status)) {
      attempt.error_body += bytes.substr(0, kErrorBodyBytesMax - attempt.error_body.size());
      return attempt.error_body.size() < kErrorBodyBytesMax ? StreamAction::kContinue : StreamAction::kStop;
    }
    // end_of_execution is the last line; E2B stops a run whose client has gone, and this one is over.
    return attempt.parser.Feed(bytes) && !attempt.parser.completed() ? StreamAction::kContinue : StreamAction::kStop;
  };
  Result<StreamEnd> end = calls_.transport().Stream(http, options, handler);
  if (!end) attempt.error = std::move(end).error();
}

Result<CodeExecutionResult> E2bProvider::Conclude(RunAttempt& attempt, const Target& target,
                                                  const RunCodeRequest& request) {
  ExecdEventParser& parser = attempt.parser;
  const std::string& id = target.handle.id;
  const bool regular_end = !attempt.error && (parser.counted() || parser.failed());
  parser.Finish(/*keep_incomplete=*/attempt.error.has_value() || parser.over_limit());
  const bool cancelled = attempt.error && attempt.error->kind == ErrorKind::kCancelled;
  if ((parser.completed() || regular_end) && !parser.over_limit() && !cancelled) {
    CodeExecutionResult result = parser.TakeResult();
    result.cut_after_completion = attempt.error.has_value();
    return result;
  }

  Error error;
  if (parser.over_limit()) {
    error.kind = ErrorKind::kOutputLimit;
    error.message = "Sandbox output exceeded " +
                    std::to_string(request.output_bytes_max.value_or(options_.output_bytes_max)) +
                    " bytes; aborting to avoid unbounded memory use.";
  } else if (attempt.error && attempt.error->kind != ErrorKind::kStreamTruncated) {
    error = std::move(*attempt.error);
  } else if (!attempt.error && parser.events_count() == 0 && parser.result().skipped_lines_count > 0) {
    error.kind = ErrorKind::kProtocol;
    error.message =
        "E2B runCode answered " + std::to_string(attempt.status) + " with something that is no event stream";
  } else {
    error.kind = ErrorKind::kStreamTruncated;
    error.message = "E2B run in sandbox " + id + ": the stream ended before the run's end was announced";
  }
  error.operation = "runCode";
  error.sandbox_id = id;
  error.attempts = attempt.number;
  error.http_status = attempt.status;
  error.outcome = parser.events_count() > 0 ? Outcome::kHappened : Outcome::kUnknown;
  NameRunClock(error, id, request);
  CodeExecutionResult partial = parser.TakeResult();
  partial.truncated = true;
  error.partial_result = std::make_shared<const CodeExecutionResult>(std::move(partial));
  if (error.kind != ErrorKind::kOutputLimit && !cancelled) ExplainBySandbox(error, target.scope);
  return error;
}

// Without a key nobody can be asked, and the error stays what it is.
void E2bProvider::ExplainBySandbox(Error& error, const CallScope& scope) {
  if (scope.api_key.empty()) return;
  if (error.kind == ErrorKind::kApi && error.http_status < 500 && error.http_status != 404) return;
  CallScope own = scope;
  own.deadline = clock().Now() + kStateLookTime;
  const Result<E2bSandbox> look = GetSandbox(own);
  if (look || look.error().kind != ErrorKind::kSandboxGone) return;
  error.kind = ErrorKind::kSandboxGone;
  error.timeout_clock = TimeoutClock::kNone;
  error.message = "E2B sandbox " + scope.sandbox_id + " does not exist any more; its run failed: " + error.message;
}

void E2bProvider::NameRunClock(Error& error, const std::string& id, const RunCodeRequest& request) const {
  if (error.kind != ErrorKind::kTimeout) return;
  const std::optional<Duration> run_deadline = request.run_deadline ? request.run_deadline : options_.run_deadline;
  const std::optional<Duration> idle_timeout = request.idle_timeout ? request.idle_timeout : options_.idle_timeout;
  if (error.timeout_clock == TimeoutClock::kRequest && run_deadline) {
    error.timeout_clock = TimeoutClock::kRunDeadline;
    error.message = "E2B run in sandbox " + id + " did not end within " + PythonSeconds(*run_deadline) + " seconds";
  } else if (error.timeout_clock == TimeoutClock::kIdle && idle_timeout) {
    error.message = "E2B run in sandbox " + id + " sent nothing for " + PythonSeconds(*idle_timeout) + " seconds";
  }
}

}  // namespace opensandbox::internal
