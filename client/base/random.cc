#include "opensandbox/base/random.h"

namespace opensandbox {
namespace {

// FNV-1a, 64 bit. std::hash differs between standard libraries, and a seed must mean the same everywhere.
class Fnv1a {
 public:
  void Add(std::uint8_t byte) { hash_ = (hash_ ^ byte) * 1099511628211u; }
  void Add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) Add(static_cast<std::uint8_t>(value >> shift));
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

}  // namespace

SeededRandom SeededRandom::ForPurpose(std::uint64_t seed, std::string_view purpose, std::uint64_t occurrence) {
  Fnv1a hash;
  hash.Add(seed);
  hash.Add(static_cast<std::uint64_t>(purpose.size()));
  for (const char c : purpose) hash.Add(static_cast<std::uint8_t>(c));
  hash.Add(occurrence);
  // FNV leaves neighbouring inputs alike in their high bits; one draw of the generator spreads them.
  return SeededRandom(SeededRandom(hash.value()).Next());
}

std::uint64_t SeededRandom::Next() {
  // SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t SeededRandom::Below(std::uint64_t bound) {
  if (bound == 0) return 0;
  // Draws below 2^64 mod bound would make small results more likely than large ones.
  const std::uint64_t skip = (0 - bound) % bound;
  while (true) {
    const std::uint64_t draw = Next();
    if (draw >= skip) return draw % bound;
  }
}

double SeededRandom::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

}  // namespace opensandbox
