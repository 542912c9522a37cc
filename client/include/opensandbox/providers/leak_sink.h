// Where sandboxes are reported that could not be deleted.
#ifndef OPENSANDBOX_PROVIDERS_LEAK_SINK_H_
#define OPENSANDBOX_PROVIDERS_LEAK_SINK_H_

#include <mutex>
#include <string>
#include <vector>

#include "opensandbox/base/error.h"

namespace opensandbox {

struct Leak {
  std::string provider{};
  std::string sandbox_id{};    // empty only if the provider never told it
  std::string metadata_tag{};  // the value by which the sandbox can be found in the provider's list
  std::string reason{};        // one line
};

// Thread-safe: may be called from any thread that uses a provider. Called at most once per failed clean-up.
class LeakSink {
 public:
  virtual ~LeakSink() = default;
  virtual void OnLeak(const Leak& leak) = 0;
};

// Keeps them for the caller to read and drain.
class LeakLedger : public LeakSink {
 public:
  void OnLeak(const Leak& leak) override;
  std::vector<Leak> Leaks() const;
  // Returns and forgets.
  std::vector<Leak> Drain();

 private:
  mutable std::mutex mutex_;
  std::vector<Leak> leaks_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_LEAK_SINK_H_
