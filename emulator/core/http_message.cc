#include "emulator/core/http_message.h"

namespace opensandbox::emulator {
namespace {

// ASCII only: header names and hex digits are.
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (Lower(a[i]) != Lower(b[i])) return false;
  }
  return true;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = Lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::optional<std::string> Request::FindHeader(std::string_view name) const {
  for (const Header& header : headers) {
    if (EqualWithoutCase(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::vector<std::string> Request::QueryValues(std::string_view name) const {
  std::vector<std::string> values;
  for (auto& [key, value] : ParseQuery(query)) {
    if (key == name) values.push_back(std::move(value));
  }
  return values;
}

std::optional<std::string> Request::QueryValue(std::string_view name) const {
  for (auto& [key, value] : ParseQuery(query)) {
    if (key == name) return std::move(value);
  }
  return std::nullopt;
}

std::string PercentDecode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexValue(text[i + 1]);
      const int low = HexValue(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    decoded.push_back(plus_is_blank && text[i] == '+' ? ' ' : text[i]);
  }
  return decoded;
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                            c == '.' || c == '_' || c == '~';
    if (unreserved) {
      encoded.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded.push_back('%');
      encoded.push_back(kDigits[byte >> 4]);
      encoded.push_back(kDigits[byte & 15]);
    }
  }
  return encoded;
}

std::vector<std::string> PathSegments(std::string_view path) {
  std::vector<std::string> segments;
  if (path.empty()) return segments;
  if (path.front() == '/') path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    segments.push_back(PercentDecode(path.substr(0, slash), false));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view piece = query.substr(0, end);
    if (!piece.empty()) {
      const std::size_t equals = piece.find('=');
      pairs.emplace_back(
          PercentDecode(piece.substr(0, equals), true),
          equals == std::string_view::npos ? std::string() : PercentDecode(piece.substr(equals + 1), true));
    }
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return pairs;
}

}  // namespace opensandbox::emulator
