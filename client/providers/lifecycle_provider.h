// What providers with a lifecycle API share: creates that lose no sandbox, deletes, leak reports.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_LIFECYCLE_PROVIDER_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_LIFECYCLE_PROVIDER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/providers/lifecycle_calls.h"
#include "client/providers/opensandbox_wire.h"
#include "opensandbox/providers/opensandbox_provider.h"
#include "opensandbox/providers/sandbox_renewal.h"

namespace opensandbox::internal {

struct LifecycleSettings {
  std::string label;  // of messages, e.g. "OpenSandbox"
  LifecycleCalls::Headers headers;
  std::shared_ptr<Transport> transport;  // null: MakeHttplibTransport()
  RetryPolicy retry;
  LostCreatePolicy lost_create = LostCreatePolicy::kDelete;
  Duration create_request_timeout{0};
  Duration request_timeout{0};
  Duration connect_timeout{0};
  Duration cleanup_deadline{0};
  std::uint64_t seed = 0;
  LeakSink* leak_sink = nullptr;
  SandboxJournal* journal = nullptr;
  std::function<std::optional<std::string>(const std::string&)> getenv;
};

class LifecycleProvider : public SandboxProvider, public SandboxRenewal, public CreateTagLookUp {
 protected:
  struct LookUp {
    // The list was answered in full, so that what is not in it did not exist then.
    bool reliable = false;
    std::vector<SandboxRecord> found;
    bool hopeless = false;  // asking again would give the same refusal
    std::string why_not;    // why it is not reliable
  };

  explicit LifecycleProvider(LifecycleSettings settings);

  // --- what each provider does in its own way ---
  // The record in the answer to a create; kProtocol if there is none.
  virtual Result<SandboxRecord> ParseCreated(const HttpResponse& response) const = 0;
  // The sandboxes with that create tag.
  virtual LookUp FindByTag(const std::string& tag, const CallScope& scope) = 0;

  // --- lifecycle_provider.cc ---
  std::optional<std::string> GetEnv(const char* name) const;
  std::string NewCreateTag();
  void ReportLeak(const std::string& sandbox_id, const std::string& tag, const std::string& reason) const;
  Result<bool> Delete(const CallScope& scope);
  // Deletes within the clean-up deadline, whatever the caller's stop_token says, and notes in `error` how it went.
  void CleanUp(const std::string& id, const std::string& tag, const CallScope& scope, Error& error);
  // FindByTag() with a deadline, as an error if it does not tell.
  Result<std::vector<std::string>> FindIds(const std::string& tag, CallScope scope);
  // Asking again would give the same refusal.
  static bool IsRefusal(const Error& error);

  // --- lifecycle_create.cc ---
  // With its lines in the journal.
  Result<SandboxRecord> PostCreate(const std::string& body, const std::string& tag, const CallScope& scope,
                                   bool& may_have_twins);
  // The answer to a create is missing or says nothing: finds and deletes (or adopts) what it left behind. `patient`:
  // looks again until the clean-up deadline, since the sandbox may appear late.
  Result<SandboxRecord> Reconcile(Error error, const std::string& tag, const CallScope& scope, bool patient);
  void DeleteTwins(const std::string& id, const std::string& tag, const CallScope& scope);

  Clock& clock() { return calls_.clock(); }

  const LifecycleSettings settings_;
  const std::uint64_t seed_;
  LifecycleCalls calls_;

 private:
  Result<SandboxRecord> SendCreate(const std::string& body, const std::string& tag, const CallScope& scope,
                                   bool& may_have_twins);

  std::atomic<std::uint64_t> creates_count_{0};
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_LIFECYCLE_PROVIDER_H_
