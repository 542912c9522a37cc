// When and how often a request is sent again.
#ifndef OPENSANDBOX_PROVIDERS_RETRY_POLICY_H_
#define OPENSANDBOX_PROVIDERS_RETRY_POLICY_H_

#include <set>

#include "opensandbox/base/error.h"
#include "opensandbox/base/random.h"

namespace opensandbox {

// A value. Pauses grow as base * factor^n up to `pause_max`, each multiplied by a draw from [1 - jitter, 1 + jitter];
// a Retry-After of the answer replaces the pause, capped by `retry_after_max`.
struct RetryPolicy {
  int attempts_max = 4;  // the first one included; 1 = never repeat
  Duration pause_base = std::chrono::milliseconds(200);
  double pause_factor = 2.0;
  Duration pause_max = std::chrono::seconds(5);
  double jitter = 0.2;
  Duration retry_after_max = std::chrono::seconds(30);
  // Answers after which a request may be repeated. An idempotent one is repeated after any 5xx but 501 and 505, too.
  std::set<int> statuses = {429, 502, 503, 504};

  // May this failure of an operation be tried again? `idempotent`: sending it twice does no harm. A request that
  // certainly was not sent is always safe; one whose fate is unknown only if idempotent.
  bool MayRetry(const Error& error, bool idempotent, int attempts_made) const;
  // The pause before attempt number `attempts_made` + 1.
  Duration PauseAfter(const Error& error, int attempts_made, SeededRandom& random) const;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_RETRY_POLICY_H_
