#include "emulator/core/ledger.h"

#include <algorithm>
#include <map>

#include "emulator/core/operation.h"

namespace opensandbox::emulator {
namespace {

// So many failed deletes are told one by one.
constexpr std::size_t kDeletesTold = 3;

// "at 61.2s": always in seconds, whole milliseconds, so that the instants of a report are easy to compare.
std::string At(TimePoint at, TimePoint start) {
  const auto ms = std::max<std::int64_t>((at - start) / std::chrono::milliseconds(1), 0);
  std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return "at " + std::to_string(ms / 1000) + (fraction.empty() ? "" : "." + fraction) + "s";
}

// " (fault a, b)" for the rules that acted on the request, the one that made the sandbox left out.
std::string Faults(const JournalEntry& entry, const std::string& sandbox_rule) {
  std::string list;
  for (const std::string& rule : entry.rules) {
    if (rule == sandbox_rule) continue;
    list += (list.empty() ? "" : ", ") + rule;
  }
  return list.empty() ? "" : " (fault " + list + ")";
}

// What became of the answer to a request, as a clause: "answered 202", "answer cut before headers (fault x)".
std::string Fate(const JournalEntry& entry, const std::string& sandbox_rule) {
  const std::string faults = Faults(entry, sandbox_rule);
  if (!entry.end.has_value()) return "not yet answered" + faults;
  const ExchangeEnd& end = *entry.end;
  const bool whole = end.ending == Ending::kComplete || end.ending == Ending::kClean;
  if (end.status != 0 && whole) return "answered " + std::to_string(end.status) + faults;
  if (end.status == 0) {
    const bool cut = end.ending.has_value() && *end.ending != Ending::kSilence;
    return (cut ? "answer cut before headers" : "never answered") + faults;
  }
  const std::string what = "answer " + std::to_string(end.status);
  if (end.client_closed) return what + " not read to its end" + faults;
  if (end.body_bytes == 0) return what + " cut after headers" + faults;
  return what + " cut after " + std::to_string(end.body_bytes) + " body bytes" + faults;
}

std::string DeleteClause(const Sandbox& sandbox, const std::vector<const JournalEntry*>& deletes) {
  if (deletes.empty()) return "never deleted";
  std::string clause = "delete failed: ";
  for (std::size_t i = 0; i < std::min(deletes.size(), kDeletesTold); ++i) {
    clause += (i == 0 ? "" : ", ") + deletes[i]->method + " #" + std::to_string(deletes[i]->number) + " " +
              Fate(*deletes[i], sandbox.behaviour.rule_id);
  }
  if (deletes.size() > kDeletesTold) clause += " and " + std::to_string(deletes.size() - kDeletesTold) + " more";
  return clause;
}

std::string Sentence(const Sandbox& sandbox, const JournalEntry* create,
                     const std::vector<const JournalEntry*>& deletes, TimePoint start) {
  std::string text = "sb-" + std::to_string(sandbox.number) + " leaked: created by " +
                     (create != nullptr ? create->method : "request") + " #" + std::to_string(sandbox.created_by) +
                     " " + At(sandbox.created, start) + ", ";
  if (create != nullptr) text += Fate(*create, sandbox.behaviour.rule_id) + ", ";
  text += DeleteClause(sandbox, deletes);
  if (sandbox.end.has_value()) text += ", ended only by its timeout " + At(sandbox.end->at, start);
  if (create != nullptr && create->end.has_value() && create->end->client_closed) {
    text += "; client closed its connection " + At(create->end->at, start);
  }
  return text;
}

}  // namespace

LedgerSummary Summarise(const SandboxStore& store) {
  return {.created = store.created_count(),
          .deleted = store.deleted_count(),
          .expired = store.expired_count(),
          .died = store.died_count(),
          .live = store.live_count()};
}

std::vector<LeakedSandbox> FindLeaks(const SandboxStore& store, const Journal& journal, TimePoint now,
                                     TimePoint start) {
  std::vector<LeakedSandbox> leaks;
  std::map<std::string_view, std::vector<const JournalEntry*>> deletes;
  std::map<std::uint64_t, const JournalEntry*> creates;
  for (const JournalEntry& entry : journal.entries()) {
    if (entry.operation == operation::kDeleteSandbox) deletes[entry.sandbox_id].push_back(&entry);
    if (entry.operation == operation::kCreateSandbox) creates[entry.number] = &entry;
  }
  for (const Sandbox* sandbox : store.All()) {
    const bool expired = sandbox->end.has_value() && sandbox->end->by == SandboxEnd::By::kExpiry;
    if (sandbox->end.has_value() && !expired) continue;
    const auto create = creates.find(sandbox->created_by);
    const auto tried = deletes.find(sandbox->id);
    leaks.push_back(
        {.id = sandbox->id,
         .number = sandbox->number,
         .expired = expired,
         .age = (expired ? sandbox->end->at : now) - sandbox->created,
         .sentence = Sentence(*sandbox, create == creates.end() ? nullptr : create->second,
                              tried == deletes.end() ? std::vector<const JournalEntry*>() : tried->second, start)});
  }
  return leaks;
}

}  // namespace opensandbox::emulator
