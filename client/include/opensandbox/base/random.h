// Chance as a parameter.
#ifndef OPENSANDBOX_BASE_RANDOM_H_
#define OPENSANDBOX_BASE_RANDOM_H_

#include <cstdint>
#include <string_view>

namespace opensandbox {

// A small deterministic generator (SplitMix64). The same seed gives the same draws on every platform. Not for secrets.
class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  // An independent stream for one purpose: derived from the seed and the name, not from the draws made so far, so a
  // new purpose never shifts another one's draws.
  static SeededRandom ForPurpose(std::uint64_t seed, std::string_view purpose, std::uint64_t occurrence = 0);

  std::uint64_t Next();
  // Uniform in [0, bound); bound 0 gives 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [0, 1).
  double Uniform();

 private:
  std::uint64_t state_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_RANDOM_H_
