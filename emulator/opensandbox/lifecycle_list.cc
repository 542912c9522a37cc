// GET /sandboxes: filters and pages.
#include <algorithm>
#include <cstdint>

#include "emulator/opensandbox/lifecycle_handlers.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

// parse_qsl with strict parsing: every piece needs a '='. The last of equal keys wins.
bool ParseMetadataFilter(std::string_view text, StringPairs& filter, std::string& bad_field) {
  while (true) {
    const std::size_t end = text.find('&');
    const std::string_view piece = text.substr(0, end);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      bad_field = piece;
      return false;
    }
    std::string key = ReplaceIllFormedUtf8(PercentDecode(piece.substr(0, equals), true));
    std::string value = ReplaceIllFormedUtf8(PercentDecode(piece.substr(equals + 1), true));
    const auto same =
        std::find_if(filter.begin(), filter.end(), [&key](const auto& pair) { return pair.first == key; });
    if (same != filter.end()) {
      same->second = std::move(value);
    } else {
      filter.emplace_back(std::move(key), std::move(value));
    }
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

bool Fits(const Sandbox& sandbox, const std::vector<std::string>& states, const StringPairs& filter) {
  if (!states.empty() && std::find(states.begin(), states.end(), PyLower(sandbox.state)) == states.end()) return false;
  if (filter.empty()) return true;
  const StringPairs metadata = VisibleMetadata(sandbox);
  return std::all_of(filter.begin(), filter.end(), [&metadata](const auto& wanted) {
    return std::find(metadata.begin(), metadata.end(), wanted) != metadata.end();
  });
}

}  // namespace

std::optional<WholeNumber> ReadIntQuery(const Request& request, std::string_view name, const IntRule& rule,
                                        WholeNumber absent, ValidationErrors& errors) {
  const std::vector<std::string> values = request.QueryValues(name);
  if (values.empty()) return absent;
  const Loc query("query");
  return CheckInt(Json::String(ReplaceIllFormedUtf8(values.back())), Loc(query, name), errors, rule);
}

std::optional<PageQuery> ReadPageQuery(const Request& request, ValidationErrors& errors) {
  const auto page = ReadIntQuery(request, "page", {.min = 1}, WholeNumber{"1", 1}, errors);
  const auto size = ReadIntQuery(request, "pageSize", {.min = 1, .max = 200}, WholeNumber{"20", 20}, errors);
  if (!page.has_value() || !size.has_value()) return std::nullopt;
  return PageQuery{*page, size->value.value_or(20)};
}

std::size_t PageStart(const PageQuery& query, std::size_t total) {
  const std::int64_t pages_before = query.page.value.value_or(INT64_MAX) - 1;
  if (pages_before > static_cast<std::int64_t>(total) / query.page_size) return total;
  return std::min(total, static_cast<std::size_t>(pages_before * query.page_size));
}

std::string ListBody(const std::string& items, const PageQuery& query, std::size_t total) {
  const auto size = static_cast<std::size_t>(query.page_size);
  const std::size_t pages = (total + size - 1) / size;
  const bool more = query.page < static_cast<std::int64_t>(pages);
  return "{\"items\":[" + items + "],\"pagination\":{\"page\":" + query.page.digits +
         ",\"pageSize\":" + std::to_string(query.page_size) + ",\"totalItems\":" + std::to_string(total) +
         ",\"totalPages\":" + std::to_string(pages) + ",\"hasNextPage\":" + (more ? "true" : "false") + "}}";
}

ReplyPlan ListSandboxes(const LifecycleCall& context) {
  const Request& request = context.call.request;
  ValidationErrors errors;
  const std::optional<PageQuery> query = ReadPageQuery(request, errors);
  if (!query.has_value()) return context.replies.Invalid(errors);

  std::vector<std::string> states = request.QueryValues("state");
  for (std::string& state : states) state = PyLower(state);
  StringPairs filter;
  const std::vector<std::string> metadata = request.QueryValues("metadata");
  if (!metadata.empty() && !metadata.back().empty()) {
    std::string bad_field;
    if (!ParseMetadataFilter(ReplaceIllFormedUtf8(metadata.back()), filter, bad_field)) {
      return context.replies.Error(400, "INVALID_METADATA_FORMAT",
                                   "Invalid metadata format: bad query field: " + PyRepr(bad_field));
    }
  }

  std::vector<const Sandbox*> found;
  for (const Sandbox* sandbox : context.store().List()) {
    if (Fits(*sandbox, states, filter)) found.push_back(sandbox);
  }
  const std::size_t start = PageStart(*query, found.size());
  const std::size_t end = std::min(found.size(), start + static_cast<std::size_t>(query->page_size));
  std::string items;
  for (std::size_t i = start; i < end; ++i) {
    if (i > start) items.push_back(',');
    AppendSandbox(items, *found[i]);
  }
  return context.replies.Answer(200, ListBody(items, *query, found.size()));
}

}  // namespace opensandbox::emulator
