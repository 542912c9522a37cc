// Every example of docs/scenarios.md does what it says when it is run.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/runner/runner.h"

namespace opensandbox::emulator {
namespace {

std::vector<std::shared_ptr<const Scenario>> ExamplesOfTheDocs() {
  std::ifstream in(std::string(OPENSANDBOX_SOURCE_DIR) + "/docs/scenarios.md");
  std::vector<std::shared_ptr<const Scenario>> examples;
  std::string line, block;
  bool inside = false;
  while (std::getline(in, line)) {
    if (!inside && line == "```jsonc") {
      inside = true;
      block.clear();
    } else if (inside && line == "```") {
      inside = false;
      const LoadedScenario loaded = ParseScenario(block, "docs/scenarios.md");
      EXPECT_TRUE(loaded.problems.empty()) << block;
      examples.insert(examples.end(), loaded.cases.begin(), loaded.cases.end());
    } else if (inside) {
      block += line + "\n";
    }
  }
  return examples;
}

TEST(DocsExamplesTest, EachPasses) {
  const auto examples = ExamplesOfTheDocs();
  EXPECT_GE(examples.size(), 20u);
  for (const ScenarioResult& result : RunScenarios(examples, {}, nullptr)) {
    EXPECT_FALSE(result.skipped) << result.scenario->name;
    for (const std::string& failure : result.verdict.failures) {
      ADD_FAILURE() << result.scenario->name << ": " << failure;
    }
  }
}

}  // namespace
}  // namespace opensandbox::emulator
