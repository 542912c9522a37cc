// What the OpenSandbox provider reads.
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/providers/opensandbox_wire.h"
#include "client/providers/utf8.h"
#include "client/transport/url.h"
#include "opensandbox/base/rfc3339.h"
#include "opensandbox/providers/opensandbox_provider.h"

namespace opensandbox::internal {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMessageBytesMax = 4096;
// Answers nest a few levels. What lies deeper is left out: printing it would use the stack without limit.
constexpr int kDepthMax = 64;

Json ParseJson(std::string_view text) {
  return Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; }, false);
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// A member's string; any other value as its JSON text; "" if it is absent or null.
std::string TextOf(const Json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  if (it == object.end() || it->is_null()) return "";
  if (it->is_string()) return it->get<std::string>();
  return it->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string StringOf(const Json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

Error ProtocolError(const std::string& operation, const HttpResponse& response, const std::string& what) {
  Error error;
  error.kind = ErrorKind::kProtocol;
  error.operation = operation;
  error.http_status = response.status;
  error.request_id = FindHeader(response.headers, "X-Request-ID").value_or("");
  error.outcome = Outcome::kHappened;
  error.message = "OpenSandbox " + operation + " answered " + std::to_string(response.status) + " with " + what + ": " +
                  Excerpt(response.body);
  return error;
}

Result<Json> ParseObject(const std::string& operation, const HttpResponse& response) {
  Json json = ParseJson(response.body);
  if (json.is_discarded()) return ProtocolError(operation, response, "a body that is not JSON");
  if (!json.is_object()) return ProtocolError(operation, response, "JSON that is no object");
  return json;
}

SandboxRecord ToRecord(const Json& json) {
  SandboxRecord record;
  record.id = StringOf(json, "id");
  const auto status = json.find("status");
  if (status != json.end() && status->is_object()) {
    record.status.state = StringOf(*status, "state");
    record.status.reason = TextOf(*status, "reason");
    record.status.message = TextOf(*status, "message");
  }
  const auto metadata = json.find("metadata");
  if (metadata != json.end()) record.create_tag = StringOf(*metadata, kCreateTagKey);
  return record;
}

bool IsHeaderName(std::string_view name) {
  constexpr std::string_view kSymbols = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kSymbols.find(c) != std::string_view::npos;
  });
}

bool IsHeaderValue(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

// FastAPI's list of validation errors in one line.
std::string ValidationText(const Json& list) {
  std::string text;
  for (const Json& item : list) {
    if (!item.is_object()) continue;
    std::string place;
    const auto loc = item.find("loc");
    if (loc != item.end() && loc->is_array()) {
      for (const Json& part : *loc) {
        if (!place.empty()) place += '.';
        place += part.is_string() ? part.get<std::string>() : part.dump();
      }
    }
    if (!text.empty()) text += "; ";
    text += (place.empty() ? "" : place + ": ") + TextOf(item, "msg");
  }
  return text;
}

void ReadErrorBody(std::string_view body, Error& error) {
  const Json json = ParseJson(body);
  if (!json.is_object()) return;
  error.code = TextOf(json, "code");
  error.message = TextOf(json, "message");
  const auto detail = json.find("detail");
  if (detail != json.end() && error.code.empty() && error.message.empty()) {
    if (detail->is_string()) {
      error.message = detail->get<std::string>();
    } else if (detail->is_object()) {
      error.code = TextOf(*detail, "code");
      error.message = TextOf(*detail, "message");
    } else if (detail->is_array()) {
      error.message = ValidationText(*detail);
    }
  }
  const auto nested = json.find("error");
  if (nested != json.end() && error.message.empty()) {
    if (nested->is_object()) {
      if (error.code.empty()) error.code = TextOf(*nested, "code");
      error.message = TextOf(*nested, "message");
    } else {
      error.message = TextOf(json, "error");
    }
  }
  error.code = Utf8Prefix(error.code, kMessageBytesMax);
  error.message = Utf8Prefix(error.message, kMessageBytesMax);
}

std::string RedirectText(const std::vector<HeaderField>& headers, const std::string& request_url) {
  const std::optional<std::string> location = FindHeader(headers, "Location");
  if (!location) return "redirected without a Location";
  const Result<Url> target = ParseUrl(*location);
  const Result<Url> own = ParseUrl(request_url);
  const bool relative = location->rfind("//", 0) != 0 && location->find("://") == std::string::npos;
  if (relative || (target && own && target->Origin() == own->Origin())) return "redirected within its own origin";
  if (!target) return "redirected to another origin";
  return std::string("redirected to ") + (target->secure ? "https://" : "http://") + target->host_header;
}

}  // namespace

Result<SandboxRecord> ParseSandbox(const std::string& operation, const HttpResponse& response, bool needs_id) {
  const Result<Json> json = ParseObject(operation, response);
  if (!json) return json.error();
  SandboxRecord record = ToRecord(*json);
  if (!needs_id) return record;
  if (record.id.empty()) return ProtocolError(operation, response, "no sandbox id");
  if (!CheckSandboxId(record.id)) return ProtocolError(operation, response, "an impossible sandbox id");
  return record;
}

Result<ExecdEndpoint> ParseEndpoint(const HttpResponse& response) {
  const std::string operation = "getEndpoint";
  const Result<Json> json = ParseObject(operation, response);
  if (!json) return json.error();
  ExecdEndpoint endpoint;
  endpoint.endpoint = StringOf(*json, "endpoint");
  const auto headers = json->find("headers");
  if (headers != json->end() && headers->is_object()) {
    for (const auto& [name, value] : headers->items()) {
      HeaderField field{name, TextOf(*headers, name.c_str())};
      if (!IsHeaderName(field.name) || !IsHeaderValue(field.value)) {
        // No excerpt: the value is a secret.
        HttpResponse silent = response;
        silent.body.clear();
        return ProtocolError(operation, silent, "a header that can't be sent");
      }
      endpoint.headers.push_back(std::move(field));
    }
  }
  return endpoint;
}

Result<SandboxPage> ParseSandboxPage(const HttpResponse& response) {
  const std::string operation = "listSandboxes";
  const Result<Json> json = ParseObject(operation, response);
  if (!json) return json.error();
  const auto items = json->find("items");
  if (items == json->end() || !items->is_array()) return ProtocolError(operation, response, "no list of sandboxes");
  SandboxPage page;
  for (const Json& item : *items) {
    if (item.is_object()) page.records.push_back(ToRecord(item));
  }
  const auto pagination = json->find("pagination");
  if (pagination != json->end() && pagination->is_object()) {
    const auto next = pagination->find("hasNextPage");
    page.has_next_page = next != pagination->end() && next->is_boolean() && next->get<bool>();
  }
  return page;
}

Result<std::string> ExecdBase(const std::string& endpoint, const std::string& api_base, bool allow_insecure) {
  Error error;
  error.kind = ErrorKind::kProtocol;
  error.operation = "getEndpoint";
  std::string url = endpoint;
  const std::string lower = Lower(endpoint.substr(0, 8));
  const bool base_is_secure = Lower(api_base.substr(0, 8)) == "https://";
  const bool has_scheme = lower.rfind("http://", 0) == 0 || lower == "https://";
  if (!has_scheme) url = (base_is_secure ? "https://" : "http://") + endpoint;
  const std::size_t foreign_scheme = has_scheme ? std::string::npos : endpoint.find("://");
  while (!url.empty() && url.back() == '/') url.pop_back();
  const Result<Url> parsed = ParseUrl(url);
  if (!parsed || url.find_first_of("?#") != std::string::npos ||
      (foreign_scheme != std::string::npos && foreign_scheme < endpoint.find('/'))) {
    error.message = "OpenSandbox named an execd endpoint that is no address: " + Excerpt(endpoint);
    return error;
  }
  if (base_is_secure && !parsed->secure && !allow_insecure) {
    error.message = "OpenSandbox named the plain http:// execd endpoint " + parsed->Origin() +
                    " although its API is https://; allow_insecure_execd accepts that.";
    return error;
  }
  return url;
}

std::vector<HeaderField> WithEndpointHeaders(std::vector<HeaderField> headers, const std::vector<HeaderField>& extra) {
  constexpr std::array<std::string_view, 3> kFraming = {"content-length", "transfer-encoding", "connection"};
  for (const HeaderField& field : extra) {
    const std::string name = Lower(field.name);
    if (std::find(kFraming.begin(), kFraming.end(), name) != kFraming.end()) continue;
    const auto same =
        std::find_if(headers.begin(), headers.end(), [&](const HeaderField& h) { return Lower(h.name) == name; });
    if (same == headers.end()) {
      headers.push_back(field);
    } else {
      *same = field;
    }
  }
  return headers;
}

Error ApiError(const std::string& operation, int status, const std::vector<HeaderField>& headers, std::string_view body,
               const std::string& request_url, const Clock& clock, const std::string& label) {
  Error error;
  error.kind = ErrorKind::kApi;
  error.operation = operation;
  error.http_status = status;
  error.outcome = status >= 500 ? Outcome::kUnknown : Outcome::kDidNotHappen;
  error.request_id = FindHeader(headers, "X-Request-ID").value_or("");
  if (const auto retry_after = FindHeader(headers, "Retry-After")) {
    error.retry_after = ParseRetryAfter(*retry_after, clock.WallNow());
  }
  ReadErrorBody(body, error);
  if (!error.message.empty()) return error;
  error.message = label + " " + operation + " ";
  if (status >= 300 && status < 400) {
    error.message += "was " + RedirectText(headers, request_url) + "; redirects are not followed";
  } else {
    error.message += "answered " + std::to_string(status) + (body.empty() ? "" : ": " + Excerpt(body));
  }
  return error;
}

std::optional<Duration> ParseRetryAfter(std::string_view text, WallTime now) {
  constexpr std::int64_t kSecondsMax = 10LL * 365 * 86400;
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || seconds > kSecondsMax) seconds = kSecondsMax;
    return std::chrono::seconds(seconds);
  }
  const std::optional<WallTime> date = ParseHttpDate(text);
  if (!date) return std::nullopt;
  return std::clamp<Duration>(*date - now, Duration::zero(), std::chrono::seconds(kSecondsMax));
}

bool IsTerminal(std::string_view state) { return state == "Failed" || state == "Stopping" || state == "Terminated"; }

Error TerminalStateError(const std::string& id, const SandboxStatus& status) {
  Error error;
  error.kind = ErrorKind::kTerminalState;
  error.message = "OpenSandbox sandbox " + id + " entered " + status.state;
  error.sandbox_id = id;
  error.outcome = Outcome::kHappened;
  error.state = status.state;
  error.state_reason = status.reason;
  error.state_message = status.message;
  return error;
}

}  // namespace opensandbox::internal
