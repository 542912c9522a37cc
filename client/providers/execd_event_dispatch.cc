// The part of ExecdEventParser that turns whole events into a result.
#include <charconv>
#include <nlohmann/json.hpp>

#include "client/providers/execd_event_parser.h"

namespace opensandbox::internal {
namespace {

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void ExecdEventParser::Dispatch() {
  if (!DispatchByType()) return DropEvent();
  ++events_count_;
  if (reader_.had_replacements()) result_.had_invalid_utf8 = true;
  direct_ = nullptr;
  CloseEvent();
  CheckKept();
}

void ExecdEventParser::CloseEvent() {
  event_open_ = false;
  event_output_bytes_ = 0;
  event_side_bytes_ = 0;
}

void ExecdEventParser::DropEvent() {
  TakeBackText();
  CloseEvent();
  ++result_.skipped_lines_count;
}

bool ExecdEventParser::DispatchByType() {
  if (type_.kind == Kind::kAbsent || type_.kind == Kind::kNull) return DispatchBareError();
  if (type_.kind != Kind::kString) return false;
  const std::string& type = type_.text;
  if (type == "stdout") return DispatchText(result_.stdout_text);
  if (type == "stderr") return DispatchText(result_.stderr_text);
  if (dialect_ == Dialect::kE2b) {
    if (type == "number_of_executions") return DispatchCount();
    if (type == "end_of_execution") completed_ = true;
  } else {
    if (type == "execution_count") return DispatchCount();
    if (type == "execution_complete") completed_ = true;
  }
  if (type == "result") DispatchResult();
  if (type == "error") DispatchError();
  if (type == "init" && text_.kind == Kind::kString && text_.text.size() <= kExecutionIdBytesMax) {
    execution_id_ = text_.text;
  }
  return true;
}

bool ExecdEventParser::DispatchText(std::string& target) {
  if (text_.kind == Kind::kAbsent || text_.kind == Kind::kNull) return true;
  if (text_.kind != Kind::kString) return false;
  std::uint64_t bytes = 0;
  if (direct_ == &target) {
    bytes = target.size() - direct_mark_;
  } else {
    if (direct_ != nullptr) {
      // A second `type` key changed its mind.
      text_.text = direct_->substr(direct_mark_);
      TakeBackText();
    }
    bytes = text_.text.size();
    target += text_.text;
  }
  output_bytes_ += bytes;
  if (bytes > 0) ++output_events_count_;
  return true;
}

bool ExecdEventParser::DispatchCount() {
  const Slot* slot = Find(event_, "execution_count");
  if (slot == nullptr || !slot->given()) return true;  // execd leaves a zero out
  if (slot->kind != Kind::kScalar && slot->kind != Kind::kString) return false;
  const std::optional<std::int64_t> count = ParseInteger(slot->text);
  if (!count) return false;
  if (!result_.execution_count) result_.execution_count = count;
  return true;
}

void ExecdEventParser::DispatchResult() {
  if (!has_results_) {
    results_ = std::move(event_);
    if (dialect_ == Dialect::kExecd) results_.erase("execution_count");
    if (text_.kind != Kind::kAbsent) results_["text"] = std::move(text_);
  }
  std::uint64_t output = 0;
  std::uint64_t side = kEntryBytes;
  ExecutionOutput values;
  for (auto& [key, slot] : results_) {
    output += slot.text.size();
    side += key.size() + kEntryBytes;
    values.emplace(key, std::move(slot.text));
  }
  output_bytes_ += output;
  side_bytes_ += side;
  event_output_bytes_ = event_side_bytes_ = 0;
  CheckKept();
  if (over_limit_) return;
  ++output_events_count_;
  result_.results.push_back(std::move(values));
}

void ExecdEventParser::DispatchError() {
  ExecutionError error;
  if (has_error_object_) {
    error.name = FirstGiven(error_, "ename", "name");
    error.value = FirstGiven(error_, "evalue", "value");
    error.traceback = Traceback(Find(error_, "traceback"));
  } else {
    error.name = FirstGiven(event_, "name", "name");
    // A plain `"error": "text"` is kept where the flat form has nothing to say.
    error.value = FirstGiven(event_, "value", "error");
    const Slot* value = Find(event_, "value");
    if ((value == nullptr || !value->given()) && text_.given()) error.value = text_.text;
    error.traceback = Traceback(Find(event_, "traceback"));
  }
  AddError(std::move(error));
}

// {"code": ..., "message": ...} without a type: how execd tells a failure after the 200. It leaves an empty message
// out.
bool ExecdEventParser::DispatchBareError() {
  const Slot* code = Find(event_, "code");
  const Slot* message = Find(event_, "message");
  if (code == nullptr || (message == nullptr && event_.size() > 1)) return false;
  ExecutionError error;
  error.name = FirstGiven(event_, "code", "code");
  error.value = FirstGiven(event_, "message", "message");
  AddError(std::move(error));
  return true;
}

void ExecdEventParser::AddError(ExecutionError error) {
  failed_ = true;
  std::uint64_t bytes = kEntryBytes + error.name.size() + error.value.size();
  for (const std::string& line : error.traceback) bytes += kEntryBytes + line.size();
  // The first one is kept twice.
  side_bytes_ += result_.error ? bytes : 2 * bytes;
  event_output_bytes_ = event_side_bytes_ = 0;
  CheckKept();
  if (over_limit_ && result_.error) return;
  if (!result_.error) result_.error = error;
  result_.errors.push_back(std::move(error));
}

const ExecdEventParser::Slot* ExecdEventParser::Find(const Slots& slots, std::string_view key) const {
  const auto it = slots.find(key);
  return it == slots.end() ? nullptr : &it->second;
}

std::string ExecdEventParser::FirstGiven(const Slots& slots, std::string_view key, std::string_view other_key) const {
  for (const std::string_view k : {key, other_key}) {
    const Slot* slot = Find(slots, k);
    if (slot != nullptr && slot->given()) return slot->text;
  }
  return "";
}

std::vector<std::string> ExecdEventParser::Traceback(const Slot* slot) {
  if (slot == nullptr || !slot->given()) return {};
  if (slot->kind != Kind::kArray) return {slot->text};
  if (slot->text.empty()) return slot->items;
  // Its event's type came later, so it was kept as JSON text.
  std::vector<std::string> lines;
  for (const auto& item : nlohmann::json::parse(slot->text, nullptr, false)) {
    lines.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return lines;
}

}  // namespace opensandbox::internal
