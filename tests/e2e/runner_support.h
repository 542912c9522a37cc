// Scenarios as text, run in this process.
#ifndef OPENSANDBOX_TESTS_E2E_RUNNER_SUPPORT_H_
#define OPENSANDBOX_TESTS_E2E_RUNNER_SUPPORT_H_

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/runner/runner.h"
#include "emulator/service/emulator.h"

namespace opensandbox::emulator {

// `members`: the scenario's JSON without schemaVersion and name.
inline std::shared_ptr<const Scenario> MakeScenario(const std::string& members, const std::string& name = "inline") {
  const LoadedScenario loaded =
      ParseScenario(R"({"schemaVersion": 1, "name": ")" + name + R"(", )" + members + "}", "");
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
  return loaded.scenario;
}

inline ScenarioResult RunOne(const std::shared_ptr<const Scenario>& scenario, const RunOptions& options = {}) {
  if (scenario == nullptr) return {};
  return RunScenarios({scenario}, options, nullptr).at(0);
}

// Why a result that should have passed did not.
inline std::string Why(const ScenarioResult& result) {
  std::string text = result.skipped ? "skipped: " + result.skip_reason + "\n" : "";
  for (const std::string& failure : result.verdict.failures) text += failure + "\n";
  return text;
}

// The run's journal without what may differ between two equal runs: ports, and the bytes that were already on their way
// when a client closed.
inline std::string NormalisedJournal(Emulator& emulator) {
  const std::shared_ptr<Tenant> tenant = emulator.FindTenant(kRunTenant);
  std::lock_guard lock(tenant->mutex);
  std::string text;
  for (const JournalEntry& entry : tenant->journal->entries()) {
    text += std::to_string(entry.number) + " " + entry.operation + " " + entry.method + " " + entry.target +
            " sandbox=" + entry.sandbox_id + " at=" + std::to_string((entry.received - tenant->loaded).count()) +
            " committed=" + std::to_string(entry.committed) + " in=" + std::to_string(entry.request_body_bytes);
    for (const std::string& rule : entry.rules) text += " rule=" + rule;
    if (entry.end) {
      text += " status=" + std::to_string(entry.end->status) +
              " ended=" + std::to_string((entry.end->at - tenant->loaded).count()) +
              " closed=" + std::to_string(entry.end->client_closed);
      if (entry.end->ending) text += " by=" + std::string(ToString(*entry.end->ending));
      if (!entry.end->client_closed) text += " out=" + std::to_string(entry.end->body_bytes);
    } else {
      text += " open";
    }
    text += "\n";
  }
  return text;
}

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_E2E_RUNNER_SUPPORT_H_
