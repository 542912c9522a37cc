#include "emulator/core/lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace opensandbox::emulator {
namespace {

constexpr Action kActions[] = {Action::kGet,   Action::kPause,   Action::kResume,      Action::kDelete,
                               Action::kRenew, Action::kRunCode, Action::kGetEndpoint, Action::kPatchMetadata};

// The rule of the wire reference (1.7, 1.10) in words, against which the table is compared cell by cell.
std::pair<ActionVerdict, std::string> Expected(const std::string& state, Action action) {
  switch (action) {
    case Action::kGet:
    case Action::kRenew:
    case Action::kGetEndpoint:
    case Action::kPatchMetadata:
      return {ActionVerdict::kAllowed, ""};
    case Action::kDelete:
      return {ActionVerdict::kAllowed, "deleted"};
    case Action::kPause:
      if (state == "Running") return {ActionVerdict::kAllowed, "Paused"};
      if (state == "Paused") return {ActionVerdict::kAlreadyPaused, ""};
      return {ActionVerdict::kNotRunning, ""};
    case Action::kResume:
      if (state == "Paused") return {ActionVerdict::kAllowed, "Running"};
      return {ActionVerdict::kNotPaused, ""};
    case Action::kRunCode:
      return {state == "Running" ? ActionVerdict::kAllowed : ActionVerdict::kUnreachable, ""};
  }
  return {};
}

TEST(LifecycleTableTest, EveryStateAndActionHasExactlyOneRow) {
  ASSERT_EQ(state::All().size(), 8u);
  std::set<std::pair<std::string, Action>> seen;
  for (const ActionRow& row : LifecycleTable()) {
    EXPECT_TRUE(state::IsKnown(row.state)) << row.state;
    EXPECT_TRUE(seen.emplace(row.state, row.action).second) << row.state << " " << static_cast<int>(row.action);
  }
  EXPECT_EQ(seen.size(), state::All().size() * std::size(kActions));
}

TEST(LifecycleTableTest, EveryPairAnswersAsTheDockerProfileDoes) {
  int pairs = 0;
  for (const std::string& name : state::All()) {
    for (const Action action : kActions) {
      const ActionRow& row = LookUp(name, action);
      ++pairs;
      EXPECT_EQ(row.state, name);
      EXPECT_EQ(row.action, action);
      EXPECT_EQ(row.verdict, Expected(name, action).first) << name << " " << static_cast<int>(action);
      EXPECT_EQ(row.next_state, Expected(name, action).second) << name << " " << static_cast<int>(action);
    }
  }
  EXPECT_EQ(pairs, 64);
}

TEST(LifecycleTableTest, AnUnknownStateAnswersAsPending) {
  for (const char* name : {"Allocated", "running", ""}) {
    for (const Action action : kActions) EXPECT_EQ(&LookUp(name, action), &LookUp("Pending", action));
  }
}

TEST(LifecycleStatusTextTest, SaysTheDockerWords) {
  const std::map<std::string, std::pair<std::string, std::string>> words = {
      {"Pending", {"CONTAINER_STARTING", "Sandbox container is starting."}},
      {"Running", {"CONTAINER_RUNNING", "Sandbox container is running."}},
      {"Pausing", {"PAUSING", "Pausing sandbox"}},
      {"Paused", {"CONTAINER_PAUSED", "Sandbox container is paused."}},
      {"Resuming", {"RESUMING", "Resuming sandbox"}},
      {"Stopping", {"STOPPING", "Stopping sandbox"}},
      {"Terminated", {"CONTAINER_EXITED", "Sandbox container exited successfully."}},
      {"Failed", {"CONTAINER_EXITED_ERROR", "Sandbox container exited with code 1."}},
      {"Allocated", {"IP_ASSIGNED", "Pod has IP assigned but not ready (1/1 allocated, 0 ready)"}},
      {"Odd", {"CONTAINER_STATE_UNKNOWN", "Sandbox container is in state 'Odd'."}},
  };
  for (const auto& [name, expected] : words) {
    EXPECT_EQ(DefaultStatusText(name).reason, expected.first);
    EXPECT_EQ(DefaultStatusText(name).message, expected.second);
  }
}

}  // namespace
}  // namespace opensandbox::emulator
