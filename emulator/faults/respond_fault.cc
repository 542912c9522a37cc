#include "emulator/faults/respond_fault.h"

#include <algorithm>
#include <utility>

#include "emulator/execution/scripted_run.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kExecdJson[] = "application/json; charset=utf-8";

bool SameName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// How each server words an error that carries nothing but a text.
std::string DefaultBody(int status, bool execd_style) {
  if (status < 400) return "";
  const std::string phrase(StandardReason(status));
  return std::string("{\"code\":\"") + (execd_style ? "RUNTIME_ERROR" : "GENERAL::UNKNOWN_ERROR") +
         "\",\"message\":\"" + (phrase.empty() ? "Error " + std::to_string(status) : phrase) + "\"}";
}

// The first of the given headers with a standard name takes its place, the others follow.
void AddGiven(const std::vector<Header>& given, std::vector<Header>* headers) {
  const std::size_t standard_count = headers->size();
  std::vector<bool> replaced(standard_count);
  for (const Header& header : given) {
    std::size_t i = 0;
    while (i < standard_count && (replaced[i] || !SameName((*headers)[i].name, header.name))) ++i;
    if (i < standard_count) {
      (*headers)[i] = header;
      replaced[i] = true;
    } else {
      headers->push_back(header);
    }
  }
}

class GeneratedSource : public BodySource {
 public:
  explicit GeneratedSource(GeneratedText text) : generator_(std::move(text)) {}
  BodyStep Next(TimePoint, WallTime) override {
    return generator_.done() ? BodyStep::End() : BodyStep::Bytes(generator_.Next());
  }

 private:
  TextGenerator generator_;
};

}  // namespace

ReplyPlan ApplyRespond(const Respond& respond, ReplyPlan plan, const FaultContext& context) {
  ReplyPlan reply;
  reply.on_end = std::move(plan.on_end);
  reply.status = respond.status;
  const bool bodiless = (respond.status == 204 || respond.status == 304) && !respond.body && !respond.generated;
  if (respond.generated) {
    reply.source = std::make_unique<GeneratedSource>(*respond.generated);
  } else {
    reply.body = respond.body.value_or(DefaultBody(respond.status, context.execd_style));
  }
  std::string type = respond.content_type;
  if (context.execd_style && type == kJson) type = kExecdJson;
  const std::string date = FormatHttpDate(context.wall_now);
  const std::string length = std::to_string(respond.generated ? respond.generated->bytes : reply.body.size());
  if (context.execd_style) {
    if (!bodiless && !type.empty()) reply.headers.push_back({"Content-Type", type});
    reply.headers.push_back({"Date", date});
    if (!bodiless) reply.headers.push_back({"Content-Length", length});
    if (respond.retry_after) reply.headers.push_back({"Retry-After", *respond.retry_after});
  } else {
    reply.headers.push_back({"date", date});
    reply.headers.push_back({"server", "uvicorn"});
    if (!bodiless) reply.headers.push_back({"content-length", length});
    if (!bodiless && !type.empty()) reply.headers.push_back({"content-type", type});
    reply.headers.push_back({"x-request-id", context.request_id});
    if (respond.retry_after) reply.headers.push_back({"retry-after", *respond.retry_after});
  }
  AddGiven(respond.headers, &reply.headers);
  return reply;
}

}  // namespace opensandbox::emulator
