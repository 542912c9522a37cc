#include <algorithm>
#include <utility>

#include "client/providers/lifecycle_provider.h"

namespace opensandbox::internal {
namespace {

constexpr Duration kLookUpPauseBase = std::chrono::milliseconds(500);
constexpr Duration kLookUpPauseMax = std::chrono::seconds(5);

std::string TagText(const std::string& tag) { return std::string("metadata ") + kCreateTagKey + "=" + tag; }

}  // namespace

Result<SandboxRecord> LifecycleProvider::PostCreate(const std::string& body, const std::string& tag,
                                                    const CallScope& scope, bool& may_have_twins) {
  SandboxJournal* journal = settings_.journal;
  if (journal == nullptr) return SendCreate(body, tag, scope, may_have_twins);
  const JournalEntry entry{name(), scope.base, tag, "", {}, false};
  if (Result<void> written = journal->WillCreate(entry); !written) return std::move(written).error();
  Result<SandboxRecord> created = SendCreate(body, tag, scope, may_have_twins);
  if (created) {
    journal->Created(tag, created->id);
  } else if (created.error().outcome == Outcome::kDidNotHappen || created.error().cleanup == Cleanup::kDeleted) {
    journal->NotCreated(tag);
  } else {
    journal->Abandoned(entry);
  }
  return created;
}

Result<SandboxRecord> LifecycleProvider::SendCreate(const std::string& body, const std::string& tag,
                                                    const CallScope& scope, bool& may_have_twins) {
  LifecycleRequest request;
  request.operation = "createSandbox";
  request.method = "POST";
  request.path = "/sandboxes";
  request.body = body;
  request.timeout = settings_.create_request_timeout;
  for (int attempts = 1;; ++attempts) {
    const Result<HttpResponse> response = calls_.Once(request, scope);
    Result<SandboxRecord> created = response ? ParseCreated(*response) : response.error();
    if (created) return created;
    Error error = std::move(created).error();
    if (error.attempts == 0 && !response) --attempts;  // nothing was sent
    error.attempts = attempts;
    if (error.outcome == Outcome::kDidNotHappen) {
      if (!calls_.policy().MayRetry(error, /*idempotent=*/false, attempts)) return error;
      const TimePoint next = clock().Now() + calls_.PauseAfter(error, attempts);
      if (PauseUntil(clock(), next, scope.stop, "retry pause")) continue;
      Error cancelled = calls_.Cancelled(request.operation, "");
      cancelled.attempts = attempts;
      return cancelled;
    }
    // A lost answer, or a success without an id: only the list can tell.
    if (error.kind != ErrorKind::kApi) return Reconcile(std::move(error), tag, scope, /*patient=*/true);

    // The server failed, and may have created the sandbox all the same. With the look-up in between a repeat does no
    // harm. A gateway's 504 is given up on like a lost answer: the work behind it goes on.
    if (!calls_.policy().MayRetry(error, /*idempotent=*/true, attempts) ||
        calls_.policy().statuses.count(error.http_status) == 0) {
      return Reconcile(std::move(error), tag, scope, /*patient=*/error.http_status == 504);
    }
    const TimePoint next = clock().Now() + calls_.PauseAfter(error, attempts);
    if (!PauseUntil(clock(), next, scope.stop, "retry pause")) {
      Error cancelled = calls_.Cancelled(request.operation, "");
      cancelled.attempts = attempts;
      cancelled.outcome = Outcome::kUnknown;
      return Reconcile(std::move(cancelled), tag, scope, /*patient=*/false);
    }
    may_have_twins = true;
    Result<SandboxRecord> left_behind = Reconcile(error, tag, scope, /*patient=*/false);
    if (left_behind) return left_behind;
    if (left_behind.error().cleanup == Cleanup::kFailed) return left_behind;
  }
}

Result<SandboxRecord> LifecycleProvider::Reconcile(Error error, const std::string& tag, const CallScope& scope,
                                                   bool patient) {
  // The caller's stop_token ends no clean-up.
  CallScope own = scope;
  own.stop = {};
  own.deadline = clock().Now() + settings_.cleanup_deadline;
  LookUp look;
  Duration pause = kLookUpPauseBase;
  for (;;) {
    look = FindByTag(tag, own);
    if (!look.found.empty() || look.hopeless || (look.reliable && !patient)) break;
    const TimePoint next = clock().Now() + pause;
    if (next >= *own.deadline) break;
    PauseUntil(clock(), next, own.stop, "look-up of a lost create");
    pause = std::min(2 * pause, kLookUpPauseMax);
  }

  if (!look.found.empty() && settings_.lost_create == LostCreatePolicy::kAdopt && !scope.stop.stop_requested()) {
    SandboxRecord adopted = std::move(look.found.front());
    for (std::size_t i = 1; i < look.found.size(); ++i) CleanUp(look.found[i].id, tag, scope, error);
    return adopted;
  }
  std::string told;
  for (const SandboxRecord& record : look.found) {
    CleanUp(record.id, tag, scope, error);
    told = "the sandbox " + record.id + " was found by its " + TagText(tag);
  }
  if (look.found.empty() && look.reliable) {
    told = "no sandbox with " + TagText(tag) + " was found";
  } else if (look.found.empty()) {
    told = "a sandbox with " + TagText(tag) + " may exist: looking it up failed: " + look.why_not;
    error.cleanup = Cleanup::kFailed;
    error.cleanup_message = told;
    ReportLeak("", tag, error.message + "; " + told);
  }
  const bool lost = error.kind == ErrorKind::kTransport || error.kind == ErrorKind::kTimeout ||
                    error.kind == ErrorKind::kStreamTruncated ||
                    (error.kind == ErrorKind::kProtocol && error.http_status == 0);
  if (lost) {
    error.kind = ErrorKind::kOutcomeUnknown;
    error.outcome = Outcome::kUnknown;
    error.message =
        settings_.label + " createSandbox may or may not have taken effect (" + error.message + "); " + told;
  }
  return error;
}

// An attempt that was answered 5xx may still have created its sandbox after the look-up before the next attempt.
void LifecycleProvider::DeleteTwins(const std::string& id, const std::string& tag, const CallScope& scope) {
  CallScope own = scope;
  own.stop = {};
  own.deadline = clock().Now() + settings_.cleanup_deadline;
  Error ignored;
  for (const SandboxRecord& record : FindByTag(tag, own).found) {
    if (record.id != id) CleanUp(record.id, tag, scope, ignored);
  }
}

}  // namespace opensandbox::internal
