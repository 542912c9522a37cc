#include "emulator/control/loopback.h"

#include <algorithm>

namespace opensandbox::emulator {
namespace {

bool EqualWithoutCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

// Takes one decimal number of 0 to 255 from the front; -1 if there is none.
int TakeOctet(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    value = value * 10 + (text[digits] - '0');
    if (++digits > 3) return -1;
  }
  text.remove_prefix(digits);
  return digits == 0 || value > 255 ? -1 : value;
}

bool IsLoopbackV4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (text.empty() || text.front() != '.') return false;
      text.remove_prefix(1);
    }
    const int octet = TakeOctet(text);
    if (octet < 0 || (part == 0 && octet != 127)) return false;
  }
  return text.empty();
}

}  // namespace

bool IsLoopbackHost(std::string_view host) {
  return EqualWithoutCase(host, "localhost") || IsLoopbackV4(host) || host == "::1" || host == "[::1]";
}

bool IsLoopbackAuthority(std::string_view authority, std::string_view port) {
  const bool bracketed = !authority.empty() && authority.front() == '[';
  const std::size_t host_end = bracketed ? authority.find(']') : 0;
  if (host_end == std::string_view::npos) return false;
  const std::size_t colon = authority.find(':', host_end);
  const std::string_view host = authority.substr(0, colon);
  if (host == "::1" || !IsLoopbackHost(host)) return false;
  return colon == std::string_view::npos || authority.substr(colon + 1) == port;
}

}  // namespace opensandbox::emulator
