// A small strict XML reader for tests: what it accepts is well-formed (elements, attributes, text, the five named
// entities and character references; no CDATA, comments or DTD, which the reports don't use).
#ifndef OPENSANDBOX_TESTS_UNIT_REPORT_XML_READER_H_
#define OPENSANDBOX_TESTS_UNIT_REPORT_XML_READER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opensandbox::emulator {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // of the element itself, references resolved
  std::vector<XmlElement> children;

  const XmlElement* Child(std::string_view child_name) const {
    for (const XmlElement& child : children) {
      if (child.name == child_name) return &child;
    }
    return nullptr;
  }
};

class XmlReader {
 public:
  // nullopt and `complaint()` if the document is not well-formed.
  static std::optional<XmlElement> Read(std::string_view document, std::string* complaint) {
    XmlReader reader(document);
    XmlElement root;
    const bool good = reader.Document(&root);
    *complaint = reader.complaint_;
    if (!good) return std::nullopt;
    return root;
  }

 private:
  explicit XmlReader(std::string_view rest) : rest_(rest) {}

  bool Fail(const std::string& why) {
    if (complaint_.empty()) complaint_ = why + " before: " + std::string(rest_.substr(0, 40));
    return false;
  }
  bool Take(std::string_view token) {
    if (rest_.substr(0, token.size()) != token) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void Blanks() {
    while (!rest_.empty() && std::string_view(" \n\t\r").find(rest_[0]) != std::string_view::npos) {
      rest_.remove_prefix(1);
    }
  }
  std::string Name() {
    std::size_t length = 0;
    while (length < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '-')) {
      ++length;
    }
    const std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }
  // Text up to one of `stops`, resolved.
  bool Characters(char stop, std::string* text) {
    while (!rest_.empty() && rest_[0] != stop) {
      const auto c = static_cast<unsigned char>(rest_[0]);
      if (c == '<') return Fail("a bare <");
      if (rest_.substr(0, 3) == "]]>") return Fail("]]> in text");
      if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') return Fail("a control character");
      if (c == '&') {
        if (!Reference(text)) return false;
        continue;
      }
      *text += rest_[0];
      rest_.remove_prefix(1);
    }
    return true;
  }
  bool Reference(std::string* text) {
    static const std::map<std::string_view, char> kNamed = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                                                            {"&quot;", '"'}, {"&apos;", '\''}, {"&#10;", '\n'},
                                                            {"&#9;", '\t'},  {"&#13;", '\r'}};
    for (const auto& [name, value] : kNamed) {
      if (Take(name)) {
        *text += value;
        return true;
      }
    }
    return Fail("an unknown reference");
  }
  bool Document(XmlElement* root) {
    if (!Take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")) return Fail("no XML declaration");
    Blanks();
    if (!Element(root)) return false;
    Blanks();
    return rest_.empty() || Fail("something behind the root element");
  }
  bool Element(XmlElement* element) {
    if (!Take("<")) return Fail("no element");
    element->name = Name();
    if (element->name.empty()) return Fail("an element without a name");
    for (;;) {
      const bool blank = !rest_.empty() && rest_[0] == ' ';
      Blanks();
      if (Take("/>")) return true;
      if (Take(">")) break;
      if (!blank) return Fail("no blank before an attribute");
      const std::string name = Name();
      if (name.empty() || !Take("=\"")) return Fail("a broken attribute");
      std::string value;
      if (!Characters('"', &value) || !Take("\"")) return Fail("an attribute without an end");
      if (!element->attributes.emplace(name, value).second) return Fail("an attribute twice: " + name);
    }
    for (;;) {
      if (!Characters('<', &element->text)) return false;
      if (rest_.substr(0, 2) == "</") {
        Take("</");
        if (Name() != element->name || !Take(">")) return Fail("a wrong end tag");
        return true;
      }
      if (rest_.empty()) return Fail("an element without an end: " + element->name);
      XmlElement child;
      if (!Element(&child)) return false;
      element->children.push_back(std::move(child));
    }
  }

  std::string_view rest_;
  std::string complaint_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_REPORT_XML_READER_H_
