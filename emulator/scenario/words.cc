#include "emulator/scenario/words.h"

#include <algorithm>
#include <cstddef>

namespace opensandbox::emulator {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string CamelCase(std::string_view text) {
  std::string word;
  bool next_upper = false;
  for (const char c : text) {
    if (c == ' ') {
      next_upper = true;
      continue;
    }
    word += next_upper ? Upper(c) : c;
    next_upper = false;
  }
  return word;
}

template <typename Enum>
std::vector<std::string> WordsOf(Enum first, Enum last) {
  std::vector<std::string> words;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i)
    words.push_back(ScenarioWord(static_cast<Enum>(i)));
  return words;
}

constexpr std::size_t kNameBytesMax = 64;

// Edits between two names, case aside: letters added, left out, changed, or two neighbours swapped.
std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t change = Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1])) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string ScenarioWord(ErrorKind kind) { return CamelCase(ToString(kind)); }
std::string ScenarioWord(TimeoutClock clock) { return CamelCase(ToString(clock)); }
std::string ScenarioWord(Outcome outcome) { return CamelCase(ToString(outcome)); }
std::string ScenarioWord(Cleanup cleanup) { return CamelCase(ToString(cleanup)); }

std::string ScenarioWord(Ending ending) {
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

std::optional<Ending> EndingFromWord(std::string_view word) {
  for (const Ending ending :
       {Ending::kComplete, Ending::kClean, Ending::kNoTerminator, Ending::kFin, Ending::kRst, Ending::kSilence}) {
    if (ScenarioWord(ending) == word) return ending;
  }
  return std::nullopt;
}

std::vector<std::string> DeathFaceWords() {
  return {"404", "410", "502", "rst", "blackHole", "cleanEnd", "healthyPing"};
}

std::optional<DeathFace> DeathFaceFromWord(std::string_view word) {
  const std::vector<std::string> words = DeathFaceWords();  // in the order of the enumerators
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<DeathFace>(found - words.begin());
}

std::vector<std::string> ErrorWords() { return WordsOf(ErrorKind::kInvalidArgument, ErrorKind::kNotImplemented); }
std::vector<std::string> TimeoutClockWords() { return WordsOf(TimeoutClock::kConnect, TimeoutClock::kIdle); }
std::vector<std::string> OutcomeWords() { return WordsOf(Outcome::kDidNotHappen, Outcome::kUnknown); }
std::vector<std::string> CleanupWords() { return WordsOf(Cleanup::kNotNeeded, Cleanup::kFailed); }

std::string NearestWord(std::string_view found, const std::vector<std::string>& candidates) {
  if (found.empty() || found.size() > kNameBytesMax) return "";
  // What was begun and not finished: "terminal" for "terminalState".
  for (const std::string& candidate : candidates) {
    if (found.size() >= 4 && candidate.size() > found.size() && Edits(found, candidate.substr(0, found.size())) == 0) {
      return candidate;
    }
  }
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(2, found.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // A short name may not turn into just any other short name.
    const std::size_t edits = Edits(found, candidate);
    if (edits < fewest && edits * 2 <= std::max(found.size(), candidate.size())) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string OneOf(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace opensandbox::emulator
