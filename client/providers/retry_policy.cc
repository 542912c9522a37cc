#include "opensandbox/providers/retry_policy.h"

#include <algorithm>
#include <cmath>

namespace opensandbox {

bool RetryPolicy::MayRetry(const Error& error, bool idempotent, int attempts_made) const {
  if (attempts_made >= attempts_max) return false;
  const bool safe = idempotent || error.outcome == Outcome::kDidNotHappen;
  switch (error.kind) {
    case ErrorKind::kTransport:
    case ErrorKind::kStreamTruncated:
      return safe;
    case ErrorKind::kTimeout:
      // The other clocks belong to the caller's whole operation: no time is left to try again.
      return safe && (error.timeout_clock == TimeoutClock::kConnect || error.timeout_clock == TimeoutClock::kRequest);
    case ErrorKind::kApi:
      if (statuses.count(error.http_status) > 0) return safe;
      // The server failed in another way. 501 and 505 would be the same answer again.
      return idempotent && error.http_status >= 500 && error.http_status != 501 && error.http_status != 505;
    default:
      return false;
  }
}

Duration RetryPolicy::PauseAfter(const Error& error, int attempts_made, SeededRandom& random) const {
  if (error.retry_after) return std::clamp(*error.retry_after, Duration::zero(), retry_after_max);
  const double unlimited =
      static_cast<double>(pause_base.count()) * std::pow(pause_factor, std::max(attempts_made - 1, 0));
  const double pause = std::min(unlimited, static_cast<double>(pause_max.count()));
  const double spread = 1.0 + jitter * (2.0 * random.Uniform() - 1.0);
  return Duration(static_cast<Duration::rep>(std::max(pause * spread, 0.0)));
}

}  // namespace opensandbox
