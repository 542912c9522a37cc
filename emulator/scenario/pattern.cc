#include "emulator/scenario/engine.h"
#include "emulator/scenario/regex.h"

namespace opensandbox::emulator {
namespace {

// '*' any characters, '?' one byte. Never goes back further than the last '*': length of pattern times length of text.
bool MatchesGlob(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0;
  std::size_t star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace

bool Matches(const TextPattern& pattern, std::string_view value) {
  const std::string_view text = pattern.text;
  if (pattern.exact) return text == value;
  if (pattern.regex != nullptr) return pattern.regex->Search(value);
  if (text.size() >= 2 && text.front() == '/' && text.back() == '/') {
    const std::shared_ptr<const Regex> regex = Regex::Compile(text.substr(1, text.size() - 2), nullptr);
    return regex != nullptr && regex->Search(value);
  }
  if (text.find_first_of("*?") != std::string_view::npos) return MatchesGlob(text, value);
  return text == value;
}

}  // namespace opensandbox::emulator
