#include "emulator/opensandbox/lifecycle_reply.h"

#include <utility>

#include "emulator/opensandbox/lifecycle_text.h"
#include "emulator/opensandbox/surfaces.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kTextType = "text/plain; charset=utf-8";

std::vector<Header> CommonHeaders(WallTime wall_now) {
  std::vector<Header> headers;
  headers.reserve(10);
  headers.push_back({"date", FormatHttpDate(wall_now)});
  headers.push_back({"server", "uvicorn"});
  return headers;
}

bool AsksToClose(const Request& request) {
  const std::optional<std::string> connection = request.FindHeader("connection");
  return connection.has_value() && PyLower(PyStrip(*connection)) == "close";
}

// "application/json" or "application/...+json", whatever the case and the parameters.
bool IsJsonContentType(const Request& request) {
  const std::optional<std::string> header = request.FindHeader("content-type");
  if (!header.has_value()) return false;
  const std::string type = PyLower(PyStrip(std::string_view(*header).substr(0, header->find(';'))));
  static constexpr std::string_view kMain = "application/";
  static constexpr std::string_view kSuffix = "+json";
  if (type.compare(0, kMain.size(), kMain) != 0 || type.find('/', kMain.size()) != std::string::npos) return false;
  const std::string_view subtype = std::string_view(type).substr(kMain.size());
  return subtype == "json" ||
         (subtype.size() >= kSuffix.size() && subtype.substr(subtype.size() - kSuffix.size()) == kSuffix);
}

}  // namespace

void LifecycleReplies::Finish(ReplyPlan& plan) const {
  if (const std::optional<std::string> origin = request_.FindHeader("origin"); origin.has_value()) {
    plan.headers.push_back({"access-control-allow-origin", *origin});
    plan.headers.push_back({"access-control-allow-credentials", "true"});
    plan.headers.push_back({"vary", "Origin"});
  }
  plan.headers.push_back({"x-request-id", request_id_});
  if (AsksToClose(request_)) plan.headers.push_back({"connection", "close"});
}

ReplyPlan LifecycleReplies::Make(int status, std::vector<Header> before, std::string_view content_type,
                                 std::string body, std::vector<Header> after) const {
  ReplyPlan plan;
  plan.status = status;
  plan.headers = CommonHeaders(wall_now_);
  for (Header& header : before) plan.headers.push_back(std::move(header));
  plan.headers.push_back({"content-length", std::to_string(body.size())});
  if (!content_type.empty()) plan.headers.push_back({"content-type", std::string(content_type)});
  for (Header& header : after) plan.headers.push_back(std::move(header));
  // The length of what a GET would give; the bytes themselves are not sent.
  if (request_.method != "HEAD") plan.body = std::move(body);
  Finish(plan);
  return plan;
}

ReplyPlan LifecycleReplies::Answer(int status, std::string body) const {
  return Make(status, {}, kJsonType, std::move(body), {});
}

ReplyPlan LifecycleReplies::Error(int status, std::string_view code, std::string_view message) const {
  std::string body = "{\"code\":";
  AppendJsonString(body, code);
  body.append(",\"message\":");
  AppendJsonString(body, message);
  body.push_back('}');
  if (!IsUtf8(body)) return Crash();
  return Answer(status, std::move(body));
}

ReplyPlan LifecycleReplies::Detail(int status, std::string_view detail) const {
  std::string body = "{\"detail\":";
  AppendJsonString(body, detail);
  body.push_back('}');
  return Answer(status, std::move(body));
}

ReplyPlan LifecycleReplies::MethodNotAllowed(std::string_view allow) const {
  return Make(405, {{"allow", std::string(allow)}}, kJsonType, "{\"detail\":\"Method Not Allowed\"}", {});
}

ReplyPlan LifecycleReplies::Invalid(const ValidationErrors& errors) const {
  std::optional<std::string> body = errors.Body();
  if (!body.has_value()) return Crash();
  return Answer(422, *std::move(body));
}

ReplyPlan LifecycleReplies::Empty(int status) const {
  if (status != 204) return Make(status, {}, {}, {}, {});
  ReplyPlan plan;
  plan.status = status;
  plan.headers = CommonHeaders(wall_now_);
  Finish(plan);
  return plan;
}

ReplyPlan LifecycleReplies::Redirect(std::string location) const {
  return Make(307, {}, {}, {}, {{"location", std::move(location)}});
}

ReplyPlan LifecycleReplies::Preflight() const {
  static constexpr std::string_view kMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";
  const std::string method = request_.FindHeader("access-control-request-method").value_or("");
  bool allowed = false;
  for (const std::string_view known : {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}) {
    if (method == known) allowed = true;
  }
  const std::string body = allowed ? "OK" : "Disallowed CORS method";
  ReplyPlan plan;
  plan.status = allowed ? 200 : 400;
  plan.headers = CommonHeaders(wall_now_);
  plan.headers.push_back({"vary", "Origin"});
  plan.headers.push_back({"access-control-allow-methods", std::string(kMethods)});
  plan.headers.push_back({"access-control-max-age", "600"});
  plan.headers.push_back({"access-control-allow-credentials", "true"});
  plan.headers.push_back({"access-control-allow-origin", request_.FindHeader("origin").value_or("")});
  if (const auto asked = request_.FindHeader("access-control-request-headers"); asked.has_value()) {
    plan.headers.push_back({"access-control-allow-headers", *asked});
  }
  plan.headers.push_back({"content-length", std::to_string(body.size())});
  plan.headers.push_back({"content-type", std::string(kTextType)});
  plan.headers.push_back({"x-request-id", request_id_});
  if (AsksToClose(request_)) plan.headers.push_back({"connection", "close"});
  plan.body = body;
  return plan;
}

ReplyPlan LifecycleReplies::Crash() const {
  ReplyPlan plan;
  plan.status = 500;
  plan.headers = CommonHeaders(wall_now_);
  plan.body = "Internal Server Error";
  plan.headers.push_back({"content-length", std::to_string(plan.body.size())});
  plan.headers.push_back({"content-type", std::string(kTextType)});
  if (AsksToClose(request_)) plan.headers.push_back({"connection", "close"});
  return plan;
}

RequestBody ReadJsonBody(const Request& request, const LifecycleReplies& replies) {
  RequestBody body;
  if (request.body.empty()) return body;
  if (!IsJsonContentType(request)) {
    body.value = Json::String(request.body);
    return body;
  }
  ParsedJson parsed = ParsePythonJson(request.body);
  if (Json* value = std::get_if<Json>(&parsed)) {
    body.value = std::move(*value);
  } else if (const auto* syntax = std::get_if<JsonSyntaxError>(&parsed)) {
    ValidationErrors errors;
    std::string context = "{\"error\":";
    AppendJsonString(context, syntax->message);
    context.push_back('}');
    const Loc root("body");
    errors.Add("json_invalid", Loc(root, syntax->position), "JSON decode error", Json::Object(), context);
    body.refusal = replies.Invalid(errors);
  } else {
    body.refusal = replies.Detail(400, "There was an error parsing the body");
  }
  return body;
}

ReplyPlan InvalidHttpReply(WallTime wall_now) {
  ReplyPlan plan;
  plan.status = 400;
  plan.headers = CommonHeaders(wall_now);
  plan.body = "Invalid HTTP request received.";
  plan.headers.push_back({"content-type", std::string(kTextType)});
  plan.headers.push_back({"content-length", std::to_string(plan.body.size())});
  plan.headers.push_back({"connection", "close"});
  plan.ending = Ending::kClean;
  return plan;
}

}  // namespace opensandbox::emulator
