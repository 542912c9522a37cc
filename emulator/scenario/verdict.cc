#include "emulator/scenario/verdict.h"

#include <algorithm>
#include <map>

#include "opensandbox/base/time.h"

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kListedMax = 12;

// "1 sandbox", "3 sandboxes".
std::string Counted(std::uint64_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

// To the millisecond, upwards: what is over a limit stays over it. "0s", "1.25s", "12.668s".
std::string TimeText(Duration time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::max(time, Duration::zero())).count();
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) {
    std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text.append(".").append(fraction);
  }
  return text.append("s");
}

class JudgeRun {
 public:
  JudgeRun(const Scenario& scenario, const ScenarioEngine& engine, const SandboxStore& store, const Journal& journal,
           TimePoint start, TimePoint now)
      : scenario_(scenario), engine_(engine), journal_(journal), start_(start) {
    verdict_.ledger = Summarise(store);
    verdict_.leaks = FindLeaks(store, journal, now, start);
    verdict_.requests = journal.total();
    verdict_.virtual_duration = now - start;
    for (const RuleUsage& usage : engine.FaultUsage()) verdict_.faults_fired += usage.fired;
    for (const RuleUsage& usage : engine.ListenerUsage()) verdict_.faults_fired += usage.fired;
  }

  Verdict Run(bool strict, const std::vector<std::string>& step_failures) {
    verdict_.failures = step_failures;
    CheckLedger();
    CheckRequests();
    CheckOrder();
    CheckFaults();
    CheckTime();
    CheckExecutions(strict);
    verdict_.passed = verdict_.failures.empty();
    return std::move(verdict_);
  }

 private:
  void Fail(std::string sentence) { verdict_.failures.push_back(std::move(sentence)); }

  void CheckLedger() {
    const Expectations& expect = scenario_.expect;
    const LedgerSummary& ledger = verdict_.ledger;
    const auto check = [&](const std::optional<std::uint64_t>& expected, std::uint64_t found, const char* what) {
      if (!expected || *expected == found) return;
      Fail("expected " + Counted(*expected, "sandbox", "sandboxes") + " " + what + ", found " + std::to_string(found));
    };
    check(expect.created, ledger.created, "created");
    check(expect.deleted, ledger.deleted, "deleted");
    check(expect.expired, ledger.expired, "ended by their timeout");
    check(expect.died, ledger.died, "that died by themselves");
    check(expect.live, ledger.live, "alive at the end");
    const std::uint64_t leaks_expected = expect.leaks.value_or(0);
    if (verdict_.leaks.size() == leaks_expected) return;
    if (leaks_expected > 0) {
      Fail("expected " + Counted(leaks_expected, "leak", "leaks") + ", found " + std::to_string(verdict_.leaks.size()));
    }
    for (const LeakedSandbox& leak : verdict_.leaks) Fail(leak.sentence);
  }

  std::vector<const JournalEntry*> Entries(const std::string& operation) const {
    std::vector<const JournalEntry*> entries;
    for (const JournalEntry& entry : journal_.entries()) {
      if (entry.operation == operation) entries.push_back(&entry);
    }
    return entries;
  }

  // ": #1 at 0s, #4 at 1.5s", or nothing.
  std::string Listed(const std::vector<const JournalEntry*>& entries) const {
    std::string text;
    for (std::size_t i = 0; i < entries.size() && i < kListedMax; ++i) {
      text += (i == 0 ? ": #" : ", #") + std::to_string(entries[i]->number) + " at " +
              TimeText(entries[i]->received - start_);
    }
    if (entries.size() > kListedMax) text += " and " + std::to_string(entries.size() - kListedMax) + " more";
    return text;
  }

  void CheckRequests() {
    if (journal_.dropped() > 0 && (!scenario_.expect.requests.empty() || !scenario_.expect.order.empty())) {
      Fail("the journal has dropped its oldest " + Counted(journal_.dropped(), "entry", "entries") +
           ", so the expected requests can't be judged");
      return;
    }
    for (const RequestExpectation& expected : scenario_.expect.requests) {
      const std::vector<const JournalEntry*> entries = Entries(expected.operation);
      const std::string found = "found " + std::to_string(entries.size()) + Listed(entries);
      const auto number = [&](const char* how, std::uint64_t count) {
        return std::string("expected ") + how +
               Counted(count, expected.operation + " request", expected.operation + " requests");
      };
      if (expected.count && entries.size() != *expected.count) {
        Fail(number("", *expected.count) + ", " + found);
      }
      if (expected.at_least && entries.size() < *expected.at_least) {
        Fail(number("at least ", *expected.at_least) + ", " + found);
      }
      if (expected.at_most && entries.size() > *expected.at_most) {
        Fail(number("at most ", *expected.at_most) + ", " + found);
      }
      if (!expected.within) continue;
      if (entries.empty()) {
        if (expected.count.value_or(0) == 0 && !expected.at_least) {
          Fail("expected a " + expected.operation + " request within " + TimeText(*expected.within) + ", found none");
        }
      } else if (entries.front()->received - start_ > *expected.within) {
        Fail("expected the first " + expected.operation + " request within " + TimeText(*expected.within) +
             ", found it (#" + std::to_string(entries.front()->number) + ") at " +
             TimeText(entries.front()->received - start_));
      }
    }
  }

  void CheckOrder() {
    const std::vector<std::string>& order = scenario_.expect.order;
    if (order.empty() || journal_.dropped() > 0) return;
    std::size_t reached = 0;
    for (const JournalEntry& entry : journal_.entries()) {
      if (reached < order.size() && entry.operation == order[reached]) ++reached;
    }
    if (reached == order.size()) return;
    std::string received;
    std::size_t listed = 0;
    const auto& entries = journal_.entries();
    for (std::size_t i = 0; i < entries.size() && listed < kListedMax; ++listed) {
      std::size_t end = i;
      while (end < entries.size() && entries[end].operation == entries[i].operation) ++end;
      if (!received.empty()) received += ", ";
      received += entries[i].operation + (end - i > 1 ? " (" + std::to_string(end - i) + " times)" : "");
      i = end;
    }
    std::string wanted;
    for (const std::string& operation : order) wanted += (wanted.empty() ? "" : ", ") + operation;
    Fail("expected the requests " + wanted + " in this order, found no " + order[reached] +
         (reached > 0 ? " after " + order[reached - 1] : "") + "; received were " +
         (received.empty() ? "none" : received));
  }

  void CheckFaults() {
    if (!scenario_.expect.all_faults_consumed) return;
    for (const RuleUsage& usage : engine_.ListenerUsage()) {
      if (usage.may_stay_unused || usage.fired > 0) continue;
      Fail("the fault " + usage.id + " never fired: " +
           (usage.fitted == 0
                ? "no connection fitted it"
                : Counted(usage.fitted, "connection", "connections") + " fitted it, but its turn never came"));
    }
    const std::vector<RuleUsage> usages = engine_.FaultUsage();
    for (std::size_t i = 0; i < usages.size(); ++i) {
      const RuleUsage& usage = usages[i];
      const FaultRule& rule = scenario_.faults[i];
      if (rule.may_stay_unused) continue;
      if (usage.fired == 0) {
        const std::string what = rule.on.operation == "*" ? "request" : rule.on.operation + " request";
        Fail("the fault " + usage.id + " never fired: " +
             (usage.fitted == 0 ? "no " + what + " fitted it"
                                : Counted(usage.fitted, what, what + "s") + " fitted it, but its turn never came"));
      } else if (rule.cut) {
        CheckCut(rule);
      }
    }
  }

  // A cut behind the end of the reply is a fault that never happened.
  void CheckCut(const FaultRule& rule) {
    const JournalEntry* missed = nullptr;
    for (const JournalEntry& entry : journal_.entries()) {
      if (std::find(entry.rules.begin(), entry.rules.end(), rule.id) == entry.rules.end()) continue;
      if (!entry.end || !entry.end->ending || *entry.end->ending != Ending::kComplete) return;
      if (missed == nullptr) missed = &entry;
    }
    if (missed == nullptr) return;
    Fail("the cut of the fault " + rule.id + " never came: the reply to " + missed->operation + " #" +
         std::to_string(missed->number) + " was complete after " + Counted(missed->end->body_bytes, "byte", "bytes"));
  }

  void CheckTime() {
    if (scenario_.expect.within && verdict_.virtual_duration > *scenario_.expect.within) {
      Fail("expected everything to take at most " + TimeText(*scenario_.expect.within) + ", it took " +
           TimeText(verdict_.virtual_duration));
    }
  }

  void CheckExecutions(bool strict) {
    if (engine_.unmatched_executions() == 0) return;
    std::string sentence = Counted(engine_.unmatched_executions(), "execution", "executions") +
                           " matched no rule and gave an empty success";
    for (const JournalEntry& entry : journal_.entries()) {
      if (entry.near_miss.empty()) continue;
      sentence += "; of #" + std::to_string(entry.number) + " " + entry.near_miss;
      break;
    }
    (strict ? verdict_.failures : verdict_.warnings).push_back(std::move(sentence));
  }

  const Scenario& scenario_;
  const ScenarioEngine& engine_;
  const Journal& journal_;
  const TimePoint start_;
  Verdict verdict_;
};

}  // namespace

Verdict Judge(const Scenario& scenario, const ScenarioEngine& engine, const SandboxStore& store, const Journal& journal,
              TimePoint start, TimePoint now, bool strict, const std::vector<std::string>& step_failures) {
  return JudgeRun(scenario, engine, store, journal, start, now).Run(strict, step_failures);
}

}  // namespace opensandbox::emulator
