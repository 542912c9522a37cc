#include <algorithm>

#include "emulator/scenario/base64.h"
#include "emulator/scenario/load_fault_parts.h"

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kFillBytesMax = 4096;

bool IsToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool IsHeaderValue(std::string_view value) { return value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos; }

void AddHeader(LoadContext& context, const std::string& name, const Spot& value, std::vector<Header>* headers) {
  if (value.node->kind == JsonNode::Kind::kBroken) return;
  if (value.node->kind != JsonNode::Kind::kString || !IsHeaderValue(value.node->text)) {
    context.Add(value.node->line, value.pointer,
                "found " + InWords(*value.node) + ", expected one line of text or an array of such");
    return;
  }
  headers->push_back({name, value.node->text});
}

// The field "headers" of a rule or of its respond, name by name.
std::vector<HeaderEdit> LoadEdits(const ObjectReader& reader, bool null_allowed) {
  std::vector<HeaderEdit> edits;
  const std::optional<Spot> spot = reader.Find("headers");
  if (!spot) return edits;
  if (spot->node->kind != JsonNode::Kind::kObject) {
    reader.Complain("headers", "found " + InWords(*spot->node) + ", expected an object of header names and values");
    return edits;
  }
  for (const JsonMember& member : spot->node->members) {
    const Spot value{&member.value, PointerTo(spot->pointer, member.name)};
    std::vector<Header> fields;
    if (!IsToken(member.name)) {
      reader.context().Add(member.line, value.pointer, "found " + Quoted(member.name) + ", expected a header name");
    } else if (member.value.kind == JsonNode::Kind::kArray) {
      for (std::size_t i = 0; i < member.value.items.size(); ++i) {
        AddHeader(reader.context(), member.name, {&member.value.items[i], PointerTo(value.pointer, i)}, &fields);
      }
    } else if (!null_allowed || member.value.kind != JsonNode::Kind::kNull) {
      AddHeader(reader.context(), member.name, value, &fields);
    }
    HeaderEdit edit{member.name, {}};
    for (Header& field : fields) edit.values.push_back(std::move(field.value));
    edits.push_back(std::move(edit));
  }
  return edits;
}

}  // namespace

std::vector<HeaderEdit> LoadHeaderEdits(const ObjectReader& rule) { return LoadEdits(rule, true); }

std::optional<std::string> LoadBase64(const ObjectReader& reader, const char* name) {
  const std::optional<std::string> text = reader.Text(name, true);
  if (!text) return std::nullopt;
  std::optional<std::string> bytes = DecodeBase64(*text);
  if (!bytes) reader.Complain(name, "found " + Quoted(*text) + ", expected base64 with its padding");
  return bytes;
}

Respond LoadRespond(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "respond");
  Respond respond;
  respond.status = reader.SmallCount("status", 200, 599).value_or(200);
  for (const HeaderEdit& edit : LoadEdits(reader, false)) {
    for (const std::string& value : edit.values) respond.headers.push_back({edit.name, value});
  }
  reader.AtMostOne({"body", "bodyBase64", "bodyGenerated"});
  if (const std::optional<Spot> body = reader.Find("body")) {
    const bool text = body->node->kind == JsonNode::Kind::kString;
    respond.body = text ? body->node->text : CompactJson(*body->node);
  }
  if (auto bytes = LoadBase64(reader, "bodyBase64")) respond.body = *std::move(bytes);
  if (const std::optional<Spot> generated = reader.Find("bodyGenerated")) {
    const ObjectReader body(context, *generated, "generatedBody");
    GeneratedText text;
    if (auto fill = body.Text("fill", true); fill && !fill->empty() && fill->size() <= kFillBytesMax) {
      text.unit = *std::move(fill);
    } else if (body.Has("fill")) {
      body.Complain("fill", "found " + InWords(*body.Find("fill")->node) + ", expected a text of 1 to 4096 bytes");
    }
    text.bytes = body.Bytes("bytes", 1).value_or(1);
    respond.generated = text;
  }
  if (const auto type = reader.Text("contentType", true)) {
    if (!IsHeaderValue(*type)) reader.Complain("contentType", "found a line break, expected one line of text");
    respond.content_type = *type;
  }
  const std::optional<Spot> retry_after = reader.Find("retryAfter");
  respond.retry_after_reset =
      retry_after && retry_after->node->kind == JsonNode::Kind::kString && retry_after->node->text == "reset";
  if (retry_after && !respond.retry_after_reset) {
    const auto pause = reader.Time("retryAfter");
    if (pause && *pause % std::chrono::seconds(1) != Duration::zero()) {
      reader.Complain("retryAfter", "found a part of a second, expected whole seconds (anything else: \"headers\")");
    } else if (pause) {
      respond.retry_after = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*pause).count());
    }
  }
  return respond;
}

}  // namespace opensandbox::emulator
