#include "emulator/faults/header_fault.h"

#include <algorithm>
#include <string_view>

namespace opensandbox::emulator {
namespace {

bool SameName(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

ReplyPlan ApplyHeaders(const std::vector<HeaderEdit>& edits, ReplyPlan plan) {
  for (const HeaderEdit& edit : edits) {
    const auto has_name = [&](const Header& header) { return SameName(header.name, edit.name); };
    const auto place = std::find_if(plan.headers.begin(), plan.headers.end(), has_name) - plan.headers.begin();
    std::erase_if(plan.headers, has_name);
    std::vector<Header> fields;
    for (const std::string& value : edit.values) fields.push_back({edit.name, value});
    plan.headers.insert(plan.headers.begin() + place, fields.begin(), fields.end());
  }
  return plan;
}

}  // namespace opensandbox::emulator
