#include <algorithm>

#include "emulator/core/operation.h"
#include "emulator/scenario/load_fault_parts.h"
#include "emulator/scenario/load_parts.h"
#include "emulator/scenario/words.h"

namespace opensandbox::emulator {
namespace {

const std::vector<std::string> kReplyEffects = {"respond", "auth", "patch", "append", "headers", "beforeStatusLine"};
const std::vector<std::string> kEventEffects = {"drop", "duplicate", "reorder", "insert", "coalesce", "split"};
const std::vector<std::string> kPlaceEffects = {"ending", "cut", "stall", "throttle", "delay", "delayBody"};

std::vector<std::string> AllEffects() {
  std::vector<std::string> all = kReplyEffects;
  for (const auto* more : {&kEventEffects, &kPlaceEffects}) all.insert(all.end(), more->begin(), more->end());
  return all;
}

// What a late effect is possible for: the requests that change something and are over at once.
bool MayBeLate(const std::string& name) {
  return name == operation::kCreateSandbox || name == operation::kDeleteSandbox || name == operation::kPauseSandbox ||
         name == operation::kResumeSandbox || name == operation::kRenewExpiration ||
         name == operation::kPatchSandboxMetadata;
}

// The answer is one fixed body, never a stream of events.
bool IsFixedReply(const std::string& name) {
  return MayBeLate(name) || name == operation::kListSandboxes || name == operation::kGetSandbox ||
         name == operation::kGetEndpoint || name == operation::kHealth || name == operation::kGetPolicy;
}

Quota LoadQuota(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "quota");
  Quota quota;
  quota.requests = reader.Count("requests", 0);
  quota.per = reader.Time("per", false).value_or(Duration::zero());
  quota.live = reader.Count("live", 0);
  quota.streams = reader.Count("streams", 0);
  reader.AtMostOne({"requests", "live", "streams"});
  if (!reader.is_object()) return quota;
  if (reader.FirstOf({"requests", "live", "streams"}).empty()) {
    reader.ComplainHere("found a quota of nothing, expected \"requests\", \"live\" or \"streams\"");
    quota.live = 0;
  }
  if (reader.Has("requests") != reader.Has("per")) {
    reader.ComplainHere("found only one of \"requests\" and \"per\", expected both");
  }
  return quota;
}

FaultTrigger LoadTrigger(const ObjectReader& rule) {
  FaultTrigger on;
  on.operation = rule.Word("on").value_or("");
  if (const std::optional<Spot> spot = rule.Find("match")) {
    const ObjectReader match(rule.context(), *spot, "faultMatch");
    on.header = match.PatternMap("header");
    on.without_header = match.TextItems("withoutHeader");
    on.body = match.Pattern("body");
    on.sandbox_image = match.Pattern("image");
  }
  on.nth = rule.Count("nth", 1);
  on.first = rule.Count("first", 1);
  on.every = rule.Count("every", 1);
  on.probability = rule.Number("probability");
  rule.AtMostOne({"nth", "first", "every", "probability"});
  if (on.probability && (*on.probability <= 0 || *on.probability > 1)) {
    rule.Complain("probability",
                  "found " + InWords(*rule.Find("probability")->node) + ", expected a number above 0 and at most 1");
  }
  if (rule.Has("probability") && !rule.context().has_seed) {
    rule.Complain("probability", "found chance without a seed, expected the scenario to have a \"seed\"");
  }
  if (const std::optional<Spot> spot = rule.Find("window")) {
    const ObjectReader window(rule.context(), *spot, "window");
    on.from = window.Time("from");
    on.until = window.Time("until", false);
    if (window.is_object() && !window.Has("from") && !window.Has("until")) {
      window.ComplainHere("found a window without limits, expected \"from\" or \"until\"");
    } else if (on.from && on.until && *on.until <= *on.from) {
      window.Complain("until", "found a window that ends before it begins, expected \"until\" after \"from\"");
    }
  }
  if (const std::optional<Spot> spot = rule.Find("over")) on.over = LoadQuota(rule.context(), *spot);
  return on;
}

void LoadCommit(const ObjectReader& reader, FaultRule* rule) {
  rule->commit = rule->respond || rule->auth ? Commit::kNo : Commit::kYes;
  const std::optional<Spot> spot = reader.Find("commit");
  if (spot && spot->node->kind == JsonNode::Kind::kBool) {
    rule->commit = spot->node->boolean ? Commit::kYes : Commit::kNo;
  } else if (spot && spot->node->kind == JsonNode::Kind::kString && spot->node->text == "late") {
    rule->commit = Commit::kLate;
    if (rule->on.operation != "" && !MayBeLate(rule->on.operation)) {
      reader.Complain("commit", "found a late effect of " + Quoted(rule->on.operation) +
                                    ", expected a request that changes a sandbox: createSandbox, deleteSandbox, "
                                    "pauseSandbox, resumeSandbox, renewExpiration or patchSandboxMetadata");
    }
  } else if (spot) {
    reader.Complain("commit", "found " + InWords(*spot->node) + ", expected true, false or \"late\"");
  }
  rule->commit_after = reader.Time("commitAfter", false).value_or(std::chrono::seconds(1));
  if (reader.Has("commitAfter") && rule->commit != Commit::kLate) {
    reader.Complain("commitAfter", "found \"commitAfter\" without \"commit\": \"late\", expected both");
  }
}

void CheckEffects(const ObjectReader& reader, const FaultRule& rule) {
  if (!reader.is_object()) return;
  if (reader.FirstOf(AllEffects()).empty()) {
    std::vector<std::string> quoted;
    for (const std::string& name : AllEffects()) quoted.push_back(Quoted(name));
    reader.ComplainHere("found a fault that does nothing, expected " + OneOf(quoted));
    return;
  }
  reader.AtMostOne({"respond", "auth"});
  for (const std::string& name : kEventEffects) {
    if (!reader.Has(name)) continue;
    if (IsFixedReply(rule.on.operation)) {
      reader.Complain(name,
                      "found events of " + rule.on.operation + ", expected an operation that answers with a stream");
    } else if (reader.Has("respond") || reader.Has("auth")) {
      reader.Complain(name, "found events of a reply that the fault itself makes, expected only one of them");
    }
  }
  if (reader.Has("ending") && reader.Has("cut")) {
    reader.Complain("ending",
                    "found \"ending\" beside \"cut\", expected only one of them (a cut comes before the end)");
  }
  if (reader.Has("respond") && rule.cut && rule.cut->at_event) {
    reader.Complain("cut", "found a cut at an event of a reply that \"respond\" makes, expected \"at\" or \"atByte\"");
  }
  if (rule.cut && rule.cut->before_headers) {
    for (const char* name : {"patch", "append", "headers", "beforeStatusLine", "stall", "throttle", "delayBody"}) {
      if (reader.Has(name)) {
        reader.Complain(name, "found \"" + std::string(name) + "\" behind a cut before the headers, expected it gone");
      }
    }
  }
  // Without its effect there is no reply to send, so one must be made or none be sent.
  const bool nothing_sent = rule.cut && rule.cut->before_headers;
  if (reader.Has("commit") && rule.commit != Commit::kYes && !reader.Has("respond") && !reader.Has("auth") &&
      !nothing_sent) {
    reader.Complain("commit",
                    "found a request without effect and without a reply, expected \"respond\" or a cut "
                    "\"at\": \"beforeHeaders\"");
  }
}

}  // namespace

std::vector<FaultRule> LoadFaults(const ObjectReader& scenario, RuleIds& ids) {
  std::vector<FaultRule> rules;
  const std::vector<Spot> items = scenario.Items("faults");
  for (std::size_t i = 0; i < items.size(); ++i) {
    LoadContext& context = scenario.context();
    const ObjectReader reader(context, items[i], "fault");
    FaultRule rule;
    rule.id = ids.Take(reader, "faults/" + std::to_string(i));
    rule.on = LoadTrigger(reader);
    if (const auto spot = reader.Find("respond")) {
      rule.respond = LoadRespond(context, *spot);
      if (rule.respond->retry_after_reset && !(rule.on.over && rule.on.over->requests)) {
        reader.Complain("respond", "found \"retryAfter\": \"reset\" without a quota of requests, expected \"over\"");
      }
    }
    if (const auto word = reader.Word("auth")) {
      rule.auth = *word == "missingKey" ? AuthFailure::kMissingKey : AuthFailure::kInvalidKey;
    }
    rule.headers = LoadHeaderEdits(reader);
    if (const auto spot = reader.Find("patch")) {
      if (spot->node->kind == JsonNode::Kind::kObject) {
        rule.patch = CompactJson(*spot->node);
      } else {
        reader.Complain("patch", "found " + InWords(*spot->node) + ", expected an object of members to change");
      }
    }
    rule.append = reader.Text("append", true);
    rule.before_status_line = reader.Text("beforeStatusLine", true);
    for (const char* name : {"append", "beforeStatusLine"}) {
      const std::optional<Spot> spot = reader.Find(name);
      if (spot && spot->node->kind == JsonNode::Kind::kString && spot->node->text.empty()) {
        reader.Complain(name, std::string("found an empty string, expected the text ") +
                                  (name == std::string("append") ? "to append" : "that comes first"));
      }
    }
    if (const auto spot = reader.Find("drop")) rule.drop = LoadDrop(context, *spot);
    if (const auto spot = reader.Find("duplicate")) rule.duplicate = LoadDuplicate(context, *spot);
    if (const auto spot = reader.Find("reorder")) rule.reorder = LoadReorder(context, *spot);
    if (const auto spot = reader.Find("insert")) rule.insert = LoadInsert(context, *spot);
    if (const auto spot = reader.Find("coalesce")) rule.coalesce = LoadCoalesce(context, *spot);
    if (const auto spot = reader.Find("split")) rule.split = LoadSplit(context, *spot);
    if (const auto word = reader.Word("ending")) rule.ending = EndingFromWord(*word);
    if (const auto spot = reader.Find("cut")) rule.cut = LoadCut(context, *spot);
    if (const auto spot = reader.Find("stall")) rule.stall = LoadStall(context, *spot);
    if (const auto spot = reader.Find("throttle")) rule.throttle = LoadThrottle(context, *spot);
    rule.delay = LoadLatency(reader, "delay");
    rule.delay_body = LoadLatency(reader, "delayBody");
    LoadCommit(reader, &rule);
    rule.may_stay_unused = reader.Flag("mayStayUnused").value_or(false);
    CheckEffects(reader, rule);
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace opensandbox::emulator
