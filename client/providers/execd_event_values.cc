// The part of ExecdEventParser that turns JSON into the fields of one event.
#include <algorithm>

#include "client/providers/execd_event_parser.h"
#include "client/providers/utf8.h"

namespace opensandbox::internal {
namespace {

// Makes room like std::string does, but without the moment in which a nearly full string is copied to twice its size:
// from a quarter of the limit on, the next step is the limit itself. Memory that is only reserved is not used yet.
void GrowFor(std::string& text, std::size_t extra, std::uint64_t limit) {
  const std::size_t needed = text.size() + extra;
  if (needed <= text.capacity()) return;
  std::size_t next = std::max(needed, 2 * text.capacity());
  if (next > limit / 2 && limit >= needed) next = static_cast<std::size_t>(limit);
  text.reserve(next);
}

}  // namespace

void ExecdEventParser::StartEvent() {
  reader_.Reset();
  event_open_ = true;
  places_.clear();
  type_ = Slot{};
  text_ = Slot{};
  event_.clear();
  results_.clear();
  error_.clear();
  has_results_ = has_error_object_ = false;
  direct_ = nullptr;
  target_ = nullptr;
  traceback_ = nullptr;
  nested_depth_ = 0;
  nested_first_.clear();
  nested_after_key_ = false;
}

// Which fields can matter, once the type is known. Until then all may.
bool ExecdEventParser::Wanted(std::string_view key) const {
  if (dialect_ == Dialect::kE2b) {
    if (type_.kind == Kind::kString && type_.text == "result") return true;
    if (type_.kind == Kind::kString && type_.text == "number_of_executions") return key == "execution_count";
  }
  if (key == "timestamp") return false;
  if (type_.kind != Kind::kString) return true;
  const std::string_view type = type_.text;
  if (type == "stdout" || type == "stderr" || type == "init") return key == "text";
  if (type == "execution_count") return key == "execution_count";
  if (type == "result") return key != "execution_count";
  return type == "error";
}

void ExecdEventParser::Begin(Kind kind) {
  if (places_.empty()) {
    places_.push_back(Place::kEvent);
    return;
  }
  if (nested_depth_ == 0) {
    const Place place = places_.back();
    if (place == Place::kEvent && kind == Kind::kObject && Wanted(key_)) {
      if (key_ == "results") {
        event_.erase(key_);
        results_.clear();
        has_results_ = true;
        places_.push_back(Place::kResults);
        return;
      }
      if (key_ == "error") {
        event_.erase(key_);
        error_.clear();
        has_error_object_ = true;
        places_.push_back(Place::kError);
        return;
      }
    }
    BeginValue(kind);
    const bool in_error = place == Place::kError || (place == Place::kEvent && type_.text == "error");
    if (kind == Kind::kArray && key_ == "traceback" && in_error) {
      traceback_ = &(place == Place::kError ? error_ : event_)[key_];
      target_ = nullptr;
      places_.push_back(Place::kTraceback);
      return;
    }
  } else {
    BeforeNestedItem();
  }
  ++nested_depth_;
  nested_first_.push_back(true);
  Append(kind == Kind::kObject ? "{" : "[");
}

void ExecdEventParser::End(char bracket) {
  if (nested_depth_ == 0) {
    if (places_.back() == Place::kTraceback) traceback_ = nullptr;
    places_.pop_back();
    return;
  }
  Append({&bracket, 1});
  nested_first_.pop_back();
  nested_after_key_ = false;
  if (--nested_depth_ == 0) EndValue();
}

void ExecdEventParser::BeginString(bool is_key) {
  string_is_key_ = is_key;
  if (nested_depth_ > 0) {
    BeforeNestedItem();
    Append("\"");
  } else if (is_key) {
    key_.clear();
  } else {
    BeginValue(Kind::kString);
  }
}

void ExecdEventParser::StringPiece(std::string_view text) {
  if (nested_depth_ > 0) {
    AppendEscaped(text);
  } else if (string_is_key_) {
    Charge(text.size());
    if (!over_limit_) key_ += text;
  } else {
    Append(text);
  }
}

void ExecdEventParser::EndString() {
  if (nested_depth_ > 0) {
    Append("\"");
    if (!string_is_key_) return;
    Append(":");
    nested_after_key_ = true;
  } else if (!string_is_key_) {
    EndValue();
  }
}

void ExecdEventParser::Scalar(std::string_view token) {
  if (nested_depth_ > 0) {
    BeforeNestedItem();
    Append(token);
    return;
  }
  BeginValue(token == "null" ? Kind::kNull : Kind::kScalar);
  Append(token);
  EndValue();
}

// Chooses where the value goes that begins here.
void ExecdEventParser::BeginValue(Kind kind) {
  target_ = nullptr;
  target_is_output_ = false;
  switch (places_.back()) {
    case Place::kEvent:
      target_ = EventTarget(kind);
      return;
    case Place::kResults:
    case Place::kError: {
      Charge(kEntryBytes);
      target_is_output_ = places_.back() == Place::kResults;
      Slot& slot = (target_is_output_ ? results_ : error_)[key_];
      slot = Slot{};
      slot.kind = kind;
      target_ = &slot.text;
      return;
    }
    case Place::kTraceback:
      Charge(kEntryBytes);
      target_ = &traceback_->items.emplace_back();
      return;
  }
}

std::string* ExecdEventParser::EventTarget(Kind kind) {
  if (key_ == "type") {
    type_ = Slot{};
    type_.kind = kind;
    return &type_.text;
  }
  if (!Wanted(key_)) return nullptr;
  const bool type_known = type_.kind == Kind::kString;
  if (key_ == "text") {
    TakeBackText();  // of two equal keys the last one counts
    text_ = Slot{};
    text_.kind = kind;
    target_is_output_ = true;
    if (kind == Kind::kString && type_known && (type_.text == "stdout" || type_.text == "stderr")) {
      direct_ = type_.text == "stdout" ? &result_.stdout_text : &result_.stderr_text;
      direct_mark_ = direct_->size();
      return direct_;
    }
    target_is_output_ = !type_known || type_.text == "result";
    return &text_.text;
  }
  if (key_ == "results") has_results_ = false;
  if (key_ == "error") has_error_object_ = false;
  Charge(kEntryBytes);
  Slot& slot = event_[key_];
  slot = Slot{};
  slot.kind = kind;
  target_is_output_ = type_known && type_.text == "result";
  return &slot.text;
}

void ExecdEventParser::EndValue() { target_ = nullptr; }

// The comma before a nested key or item.
void ExecdEventParser::BeforeNestedItem() {
  if (nested_after_key_) {
    nested_after_key_ = false;
  } else if (nested_first_.back()) {
    nested_first_.back() = false;
  } else {
    Append(",");
  }
}

void ExecdEventParser::Append(std::string_view bytes) {
  if (target_ == nullptr || over_limit_) return;
  if (target_is_output_) return AppendOutput(*target_, bytes);
  Charge(bytes.size());
  if (!over_limit_) *target_ += bytes;
}

void ExecdEventParser::AppendEscaped(std::string_view text) {
  if (target_ == nullptr) return;
  constexpr char kDigits[] = "0123456789abcdef";
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    Append(text.substr(begin, i - begin));
    begin = i + 1;
    constexpr std::string_view kValues = "\"\\\b\f\n\r\t";
    constexpr std::string_view kNames = "\"\\bfnrt";
    const std::size_t short_form = kValues.find(text[i]);
    if (short_form != std::string_view::npos) {
      const char escape[] = {'\\', kNames[short_form]};
      Append({escape, sizeof(escape)});
    } else {
      const char escape[] = {'\\', 'u', '0', '0', kDigits[c >> 4], kDigits[c & 15]};
      Append({escape, sizeof(escape)});
    }
  }
  Append(text.substr(begin));
}

void ExecdEventParser::AppendOutput(std::string& target, std::string_view bytes) {
  const std::uint64_t room = cap_ - output_bytes_ - event_output_bytes_;
  const bool fits = bytes.size() <= room;
  if (!fits) bytes = Utf8Prefix(bytes, static_cast<std::size_t>(room));
  GrowFor(target, bytes.size(), cap_);
  target += bytes;
  event_output_bytes_ += bytes.size();
  CheckKept();
  if (!fits) over_limit_ = true;
}

void ExecdEventParser::TakeBackText() {
  if (direct_ == nullptr) return;
  event_output_bytes_ -= direct_->size() - direct_mark_;
  direct_->resize(direct_mark_);
  direct_ = nullptr;
}

}  // namespace opensandbox::internal
