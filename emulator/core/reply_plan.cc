#include "emulator/core/reply_plan.h"

#include <algorithm>
#include <utility>

namespace opensandbox::emulator {
namespace {

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&lower](char left, char right) { return lower(left) == lower(right); });
}

struct Reason {
  int status;
  std::string_view phrase;
};

// RFC 9110 section 15, RFC 6585 and the registry's others that HTTP servers send.
constexpr Reason kReasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {511, "Network Authentication Required"},
};

}  // namespace

std::string_view ToString(Ending ending) {
  switch (ending) {
    case Ending::kComplete:
      return "complete";
    case Ending::kClean:
      return "clean";
    case Ending::kNoTerminator:
      return "noTerminator";
    case Ending::kFin:
      return "fin";
    case Ending::kRst:
      return "rst";
    case Ending::kSilence:
      return "silence";
  }
  return "";
}

BodyStep BodyStep::Bytes(std::string bytes) {
  BodyStep step;
  step.kind = Kind::kBytes;
  step.bytes = std::move(bytes);
  return step;
}

BodyStep BodyStep::Wait(std::optional<TimePoint> until) {
  BodyStep step;
  step.kind = Kind::kWait;
  step.until = until;
  return step;
}

BodyStep BodyStep::Silence(std::optional<TimePoint> until) {
  BodyStep step = Wait(until);
  step.silent = true;
  return step;
}

BodyStep BodyStep::End(Ending ending) {
  BodyStep step;
  step.kind = Kind::kEnd;
  step.ending = ending;
  return step;
}

void ReplyPlan::SetBody(std::string new_body) {
  source.reset();
  body = std::move(new_body);
  if (Header* length = Find("content-length")) length->value = std::to_string(body.size());
}

Header* ReplyPlan::Find(std::string_view name) {
  for (Header& header : headers) {
    if (EqualWithoutCase(header.name, name)) return &header;
  }
  return nullptr;
}

std::string_view StandardReason(int status) {
  for (const Reason& reason : kReasons) {
    if (reason.status == status) return reason.phrase;
  }
  return {};
}

}  // namespace opensandbox::emulator
