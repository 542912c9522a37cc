#include "emulator/scenario/matrix.h"

#include <algorithm>
#include <map>
#include <set>

namespace opensandbox::emulator {
namespace {

struct Value {
  std::string name;
  const JsonNode* node = nullptr;
};

struct Axis {
  std::string name;
  int line = 0;
  std::vector<Value> values;
  bool used = false;
};

bool IsScalar(const JsonNode& node) {
  return node.kind == JsonNode::Kind::kString || node.kind == JsonNode::Kind::kNumber ||
         node.kind == JsonNode::Kind::kBool;
}

std::string ScalarText(const JsonNode& node) {
  if (node.kind == JsonNode::Kind::kBool) return node.boolean ? "true" : "false";
  return node.text;
}

// "runCode" -> "run-code", "1 MiB + 1" -> "1-mib-1".
std::string NamePart(const std::string& text) {
  const auto is_lower = [&](std::size_t i) { return i < text.size() && text[i] >= 'a' && text[i] <= 'z'; };
  std::string part;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= 'A' && c <= 'Z') {
      // A capital begins a word only between small letters.
      if (i > 0 && is_lower(i - 1) && is_lower(i + 1)) part += '-';
      part += static_cast<char>(c - 'A' + 'a');
    } else if (is_lower(i) || (c >= '0' && c <= '9')) {
      part += c;
    } else if (!part.empty() && part.back() != '-') {
      part += '-';
    }
  }
  while (!part.empty() && part.back() == '-') part.pop_back();
  return part;
}

class Expander {
 public:
  Expander(const JsonNode& root, LoadContext& context) : root_(root), context_(context) {}

  std::vector<MatrixCase> Run() {
    if (!ReadAxes() || !ReadExcept()) return {};
    std::vector<MatrixCase> cases;
    std::set<std::string> suffixes;
    std::vector<std::size_t> chosen(axes_.size());
    for (bool more = true; more; more = Advance(&chosen)) {
      if (IsLeftOut(chosen)) continue;
      MatrixCase one;
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        one.suffix += (i > 0 ? "-" : "") + NamePart(axes_[i].values[chosen[i]].name);
      }
      if (!suffixes.insert(one.suffix).second) {
        Say(root_.Find("matrix")->line, "/matrix",
            "found two cases called " + Quoted(one.suffix) + ", expected values with different names");
        return {};
      }
      chosen_ = &chosen;
      one.root = Filled(root_, true);
      cases.push_back(std::move(one));
    }
    for (const Axis& axis : axes_) {
      if (!axis.used) {
        Say(axis.line, "/matrix/" + axis.name,
            "found values that nothing uses, expected ${" + axis.name + "} somewhere");
      }
    }
    if (cases.empty()) Say(root_.Find("except")->line, "/except", "found every case left out, expected some to stay");
    return cases;
  }

 private:
  void Say(int line, const std::string& pointer, const std::string& message) { context_.Add(line, pointer, message); }

  bool ReadAxes() {
    const JsonNode& matrix = *root_.Find("matrix");
    if (matrix.kind != JsonNode::Kind::kObject || matrix.members.empty()) {
      Say(matrix.line, "/matrix", "found " + InWords(matrix) + ", expected an object of names to arrays of values");
      return false;
    }
    std::size_t count = 1;
    bool good = true;
    for (const JsonMember& member : matrix.members) {
      Axis axis{member.name, member.line, {}, false};
      const std::string pointer = PointerTo("/matrix", member.name);
      if (member.name.find_first_of(".}") != std::string::npos || member.name.empty()) {
        Say(member.line, pointer, "found the name " + Quoted(member.name) + ", expected one without '.' and '}'");
        good = false;
      }
      if (member.value.kind != JsonNode::Kind::kArray || member.value.items.empty()) {
        Say(member.line, pointer, "found " + InWords(member.value) + ", expected an array of values");
        return false;
      }
      for (std::size_t i = 0; i < member.value.items.size(); ++i) {
        const JsonNode& node = member.value.items[i];
        const JsonNode* name = node.kind == JsonNode::Kind::kObject ? node.Find("name") : &node;
        if (name == nullptr || !IsScalar(*name) || NamePart(ScalarText(*name)).empty()) {
          Say(node.line, PointerTo(pointer, i),
              "found " + InWords(node) + ", expected a text, a number, true, false or an object with a \"name\"");
          good = false;
          continue;
        }
        axis.values.push_back({ScalarText(*name), &node});
      }
      count *= member.value.items.size();
      if (count > kMatrixCasesMax) {
        Say(matrix.line, "/matrix", "found more than 10000 cases, expected fewer");
        return false;
      }
      axes_.push_back(std::move(axis));
    }
    return good;
  }

  bool ReadExcept() {
    const JsonNode* except = root_.Find("except");
    if (except == nullptr) return true;
    bool good = except->kind == JsonNode::Kind::kArray;
    if (!good) Say(except->line, "/except", "found " + InWords(*except) + ", expected an array of cases");
    for (std::size_t i = 0; good && i < except->items.size(); ++i) {
      const JsonNode& item = except->items[i];
      const std::string pointer = PointerTo("/except", i);
      if (item.kind != JsonNode::Kind::kObject || item.members.empty()) {
        Say(item.line, pointer, "found " + InWords(item) + ", expected an object of names to values of the matrix");
        return false;
      }
      std::map<std::size_t, std::string> left_out;
      for (const JsonMember& member : item.members) {
        const auto axis =
            std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == member.name; });
        const bool known = axis != axes_.end() && IsScalar(member.value) &&
                           std::any_of(axis->values.begin(), axis->values.end(),
                                       [&](const Value& value) { return value.name == ScalarText(member.value); });
        if (!known) {
          Say(member.line, PointerTo(pointer, member.name),
              "found " + InWords(member.value) + " of " + Quoted(member.name) + ", expected a value of the matrix");
          return false;
        }
        left_out[static_cast<std::size_t>(axis - axes_.begin())] = ScalarText(member.value);
      }
      except_.push_back(std::move(left_out));
    }
    return good;
  }

  bool Advance(std::vector<std::size_t>* chosen) const {
    for (std::size_t i = axes_.size(); i-- > 0;) {
      if (++(*chosen)[i] < axes_[i].values.size()) return true;
      (*chosen)[i] = 0;
    }
    return false;
  }

  bool IsLeftOut(const std::vector<std::size_t>& chosen) const {
    return std::any_of(except_.begin(), except_.end(), [&](const auto& left_out) {
      return std::all_of(left_out.begin(), left_out.end(), [&](const auto& entry) {
        return axes_[entry.first].values[chosen[entry.first]].name == entry.second;
      });
    });
  }

  // What "${...}" stands for; null if it is no placeholder of this matrix.
  const JsonNode* Meant(std::string_view inside) {
    const std::size_t dot = inside.find('.');
    const auto axis =
        std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == inside.substr(0, dot); });
    if (axis == axes_.end()) return nullptr;
    axis->used = true;
    const JsonNode& node = *axis->values[(*chosen_)[static_cast<std::size_t>(axis - axes_.begin())]].node;
    if (dot == std::string_view::npos) return node.kind == JsonNode::Kind::kObject ? node.Find("name") : &node;
    return node.kind == JsonNode::Kind::kObject ? node.Find(inside.substr(dot + 1)) : nullptr;
  }

  // Texts with their placeholders replaced; line numbers stay those of the file.
  JsonNode FilledText(const JsonNode& node, const std::string& pointer) {
    JsonNode filled = node;
    filled.text.clear();
    std::string_view rest = node.text;
    while (true) {
      const std::size_t begin = rest.find("${");
      const std::size_t end = begin == std::string_view::npos ? begin : rest.find('}', begin);
      if (end == std::string_view::npos) break;
      const std::string_view inside = rest.substr(begin + 2, end - begin - 2);
      const JsonNode* meant = Meant(inside);
      const bool whole = begin == 0 && end + 1 == node.text.size();
      if (meant != nullptr && whole) {
        JsonNode value = *meant;
        value.line = node.line;
        return value;
      }
      filled.text += rest.substr(0, begin);
      if (meant != nullptr && IsScalar(*meant)) {
        filled.text += ScalarText(*meant);
      } else {
        if (IsOfAxis(inside)) {
          Say(node.line, pointer,
              "found " + Quoted(rest.substr(begin, end - begin + 1)) +
                  ", expected a parameter that this case of the matrix has");
        }
        filled.text += rest.substr(begin, end - begin + 1);
      }
      rest.remove_prefix(end + 1);
    }
    filled.text += rest;
    return filled;
  }

  bool IsOfAxis(std::string_view inside) const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [&](const Axis& axis) { return axis.name == inside.substr(0, inside.find('.')); });
  }

  JsonNode Filled(const JsonNode& node, bool is_root, const std::string& pointer = "") {
    if (node.kind == JsonNode::Kind::kString) return FilledText(node, pointer);
    JsonNode filled;
    filled.kind = node.kind;
    filled.line = node.line;
    filled.boolean = node.boolean;
    filled.text = node.text;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      filled.items.push_back(Filled(node.items[i], false, PointerTo(pointer, i)));
    }
    for (const JsonMember& member : node.members) {
      if (is_root && (member.name == "matrix" || member.name == "except")) continue;
      filled.members.push_back(
          {member.name, member.line, Filled(member.value, false, PointerTo(pointer, member.name))});
    }
    return filled;
  }

  const JsonNode& root_;
  LoadContext& context_;
  std::vector<Axis> axes_;
  std::vector<std::map<std::size_t, std::string>> except_;
  const std::vector<std::size_t>* chosen_ = nullptr;
};

}  // namespace

std::vector<MatrixCase> ExpandMatrix(const JsonNode& root, LoadContext& context) {
  return Expander(root, context).Run();
}

}  // namespace opensandbox::emulator
