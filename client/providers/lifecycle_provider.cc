#include "client/providers/lifecycle_provider.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "opensandbox/transport/httplib_transport.h"

namespace opensandbox::internal {
namespace {

std::uint64_t DrawSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

}  // namespace

LifecycleProvider::LifecycleProvider(LifecycleSettings settings)
    : settings_(std::move(settings)),
      seed_(settings_.seed != 0 ? settings_.seed : DrawSeed()),
      calls_(settings_.transport ? settings_.transport : MakeHttplibTransport(), settings_.retry,
             settings_.connect_timeout, seed_, settings_.headers, settings_.label) {}

std::optional<std::string> LifecycleProvider::GetEnv(const char* name) const {
  if (settings_.getenv) return settings_.getenv(name);
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Unique among the calls of all clients that share a server: the seed is 64 bits of the system's chance, unless it was
// given. 32 hexadecimal digits are a valid metadata value and need no escaping in a query.
std::string LifecycleProvider::NewCreateTag() {
  SeededRandom random = SeededRandom::ForPurpose(seed_, "create-tag", creates_count_.fetch_add(1));
  std::string tag;
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = random.Next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) tag += "0123456789abcdef"[bits & 15];
  }
  return tag;
}

void LifecycleProvider::ReportLeak(const std::string& sandbox_id, const std::string& tag,
                                   const std::string& reason) const {
  if (settings_.leak_sink != nullptr) settings_.leak_sink->OnLeak({name(), sandbox_id, tag, reason});
}

Result<bool> LifecycleProvider::Delete(const CallScope& scope) {
  LifecycleRequest request;
  request.operation = "deleteSandbox";
  request.method = "DELETE";
  request.path = "/sandboxes/" + PercentEncode(scope.sandbox_id);
  // At most half of the time for one attempt: a server that never answers gets a second one.
  request.timeout = std::min(settings_.request_timeout, (*scope.deadline - clock().Now()) / 2);
  LifecycleCalls::Repeated deleted = calls_.Repeat(request, scope);
  const bool gone = deleted.response ||
                    (deleted.response.error().kind == ErrorKind::kApi && deleted.response.error().http_status == 404);
  if (settings_.journal != nullptr && gone) settings_.journal->Deleted(name(), scope.sandbox_id);
  if (settings_.journal != nullptr && !gone) {
    settings_.journal->Abandoned({name(), scope.base, "", scope.sandbox_id, {}, true});
  }
  if (deleted.response) return true;
  Error& error = deleted.response.error();
  // Gone after an attempt whose fate is unknown: most likely that attempt's work, and in any case not "never there".
  if (error.kind == ErrorKind::kApi && error.http_status == 404) return deleted.maybe_done;
  return std::move(error);
}

void LifecycleProvider::CleanUp(const std::string& id, const std::string& tag, const CallScope& scope, Error& error) {
  CallScope own = scope;
  own.sandbox_id = id;
  own.stop = {};
  own.deadline = clock().Now() + settings_.cleanup_deadline;
  const Result<bool> deleted = Delete(own);
  error.sandbox_id = id;
  if (deleted) {
    if (error.cleanup == Cleanup::kNotNeeded) error.cleanup = Cleanup::kDeleted;
    return;
  }
  error.cleanup = Cleanup::kFailed;
  error.cleanup_message = deleted.error().message;
  ReportLeak(id, tag, deleted.error().Describe());
}

Result<std::vector<std::string>> LifecycleProvider::FindIds(const std::string& tag, CallScope scope) {
  scope.deadline = clock().Now() + settings_.request_timeout;
  const LookUp look = FindByTag(tag, scope);
  if (!look.reliable) {
    Error error;
    error.kind = ErrorKind::kOutcomeUnknown;
    error.operation = "listSandboxes";
    error.message = settings_.label + " sandboxes could not be listed: " + look.why_not;
    return error;
  }
  std::vector<std::string> ids;
  for (const SandboxRecord& record : look.found) ids.push_back(record.id);
  return ids;
}

bool LifecycleProvider::IsRefusal(const Error& error) {
  return error.kind == ErrorKind::kProtocol ||
         (error.kind == ErrorKind::kApi && error.http_status < 500 && error.http_status != 429);
}

}  // namespace opensandbox::internal
