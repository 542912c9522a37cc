// The published schema and the loader say the same; so do the shipped scenarios and the examples in the docs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/scenario/loader.h"
#include "emulator/scenario/shapes.h"
#include "tests/unit/scenario/json_schema.h"

namespace opensandbox::emulator {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string InTree(const std::string& path) { return std::string(OPENSANDBOX_SOURCE_DIR) + "/" + path; }

const json& Schema() {
  static const auto* const kSchema =
      new json(json::parse(ReadAll(InTree("scenarios/schema/scenario.schema.json")), nullptr, false));
  return *kSchema;
}

// The schema of a shape: the root for "scenario".
const json& SchemaOf(const std::string& shape) { return shape == "scenario" ? Schema() : Schema()["$defs"][shape]; }

std::vector<std::string> Mistakes(const std::string& text) {
  const json value = json::parse(text, nullptr, false, true);
  if (value.is_discarded()) return {"no JSON"};
  return SchemaMistakes(Schema(), Schema(), value);
}

TEST(SchemaTest, IsReadable) {
  ASSERT_FALSE(Schema().is_discarded());
  ASSERT_TRUE(Schema().contains("$defs"));
}

TEST(SchemaTest, EveryFieldOfTheLoaderIsInTheSchemaAndTheOtherWayRound) {
  ASSERT_FALSE(ScenarioShapes().empty());
  std::set<std::string> shapes;
  for (const ObjectShape& shape : ScenarioShapes()) {
    shapes.insert(shape.name);
    ASSERT_TRUE(shape.name == "scenario" || Schema()["$defs"].contains(shape.name)) << shape.name;
    const json& schema = SchemaOf(shape.name);
    EXPECT_EQ(schema["additionalProperties"], false) << shape.name;
    std::vector<std::string> known, published;
    for (const FieldShape& field : shape.fields) known.push_back(field.name);
    for (const auto& [name, property] : schema["properties"].items()) published.push_back(name);
    EXPECT_THAT(published, testing::UnorderedElementsAreArray(known)) << shape.name;
  }
  for (const auto& [name, schema] : Schema()["$defs"].items()) {
    if (!schema.contains("properties")) continue;
    EXPECT_EQ(shapes.count(name), 1u) << name << " is unknown to the loader";
  }
}

TEST(SchemaTest, RequiredFieldsAndWordsAgree) {
  for (const ObjectShape& shape : ScenarioShapes()) {
    const json& schema = SchemaOf(shape.name);
    for (const FieldShape& field : shape.fields) {
      const json required = schema.value("required", json::array());
      EXPECT_EQ(std::find(required.begin(), required.end(), field.name) != required.end(), field.required)
          << shape.name << "/" << field.name;
      const json& property = schema["properties"][field.name];
      const json& inner = property.contains("items") ? property["items"] : property;
      // A word or a placeholder of the matrix.
      const bool choice = inner.contains("anyOf") && inner["anyOf"][0].contains("enum");
      const json& holder = choice ? inner["anyOf"][0] : inner;
      const auto words = holder.value("enum", json::array()).get<std::vector<std::string>>();
      EXPECT_THAT(words, testing::UnorderedElementsAreArray(field.words)) << shape.name << "/" << field.name;
    }
  }
}

TEST(SchemaTest, EveryFieldHasWordsForTheEditor) {
  for (const ObjectShape& shape : ScenarioShapes()) {
    for (const auto& [name, property] : SchemaOf(shape.name)["properties"].items()) {
      EXPECT_TRUE(property.contains("description") || property.contains("$ref")) << shape.name << "/" << name;
    }
  }
}

TEST(SchemaTest, TheValidatorOfTheseTestsSeesMistakes) {
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "n"})"), IsEmpty());
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 2, "name": "n"})"), ElementsAre("/schemaVersion: const"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1})"), ElementsAre(": required"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "n", "x": 1})"), ElementsAre("/x: additionalProperties"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "A"})"), ElementsAre("/name: pattern"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "n", "tags": ["a", "a"]})"), ElementsAre("/tags: uniqueItems"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "n", "faults": [{"id": "a", "on": "ping"}]})"),
              ElementsAre("/faults/0: anyOf"));
  EXPECT_THAT(
      Mistakes(R"({"schemaVersion": 1, "name": "n", "execution": [{"events": [{"stdout": "a", "raw": "b"}]}]})"),
      ElementsAre("/execution/0/events/0: oneOf"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "n", "client": [{"wait": "5 s"}]})"),
              ElementsAre("/client/0/wait: pattern"));
  EXPECT_THAT(Mistakes(R"({"schemaVersion": 1, "name": "n", "expect": {"live": -1}})"),
              ElementsAre("/expect/live: minimum"));
}

TEST(ScenarioLibraryTest, EveryFileLoadsAndFitsTheSchema) {
  const FoundScenarios found = FindScenarioFiles({InTree("scenarios")});
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_GE(found.files.size(), 45u);
  std::set<std::string> names;
  for (const std::string& file : found.files) {
    const LoadedScenario loaded = LoadScenarioFile(file);
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
    EXPECT_THAT(Mistakes(ReadAll(file)), IsEmpty()) << file;
    if (loaded.scenario == nullptr) continue;
    EXPECT_TRUE(names.insert(loaded.scenario->name).second) << loaded.scenario->name << " is there twice";
  }
}

TEST(ScenarioLibraryTest, EveryScenarioAssertsTheResultTheLedgerAndTheRequests) {
  const FoundScenarios found = FindScenarioFiles({InTree("scenarios")});
  for (const std::string& file : found.files) {
    const auto scenario = LoadScenarioFile(file).scenario;
    if (scenario == nullptr) continue;  // the test above says why
    EXPECT_NE(scenario->description, "") << file;
    EXPECT_FALSE(scenario->tags.empty()) << file;
    EXPECT_FALSE(scenario->client.empty()) << file;
    EXPECT_TRUE(scenario->expect.live && scenario->expect.created) << file;
    EXPECT_FALSE(scenario->expect.requests.empty()) << file;
    const std::string folder = std::filesystem::path(file).parent_path().filename().string();
    EXPECT_EQ(scenario->name.find_first_of('-') != std::string::npos, true) << file << ": RESOURCE-BEHAVIOUR";
    EXPECT_NE(folder, "scenarios") << file << " belongs into a folder by subject";
  }
}

TEST(ScenarioLibraryTest, EachOfTheEightySixReportsHasItsFile) {
  const FoundScenarios found = FindScenarioFiles({InTree("scenarios/regressions")});
  EXPECT_EQ(found.files.size(), 86u);
  for (const std::string& file : found.files) {
    const auto scenario = LoadScenarioFile(file).scenario;
    ASSERT_NE(scenario, nullptr) << file;
    EXPECT_EQ(scenario->tags.front(), "regression") << file;
    EXPECT_NE(scenario->name.find_last_of("0123456789"), std::string::npos) << file << ": OWNER-REPOSITORY-NUMBER";
  }
}

// The cells of the rows of the table behind a heading.
std::vector<std::vector<std::string>> Table(const std::string& markdown, const std::string& heading) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(markdown.substr(markdown.find("\n" + heading + "\n") + heading.size() + 2));
  std::string line;
  while (std::getline(lines, line) && line.rfind("## ", 0) != 0) {
    if (line.rfind("| ", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    std::string cell;
    while (std::getline(text, cell, '|')) {
      const std::size_t begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
    }
    rows.push_back(std::move(cells));
  }
  if (!rows.empty()) rows.erase(rows.begin());  // the heads of the columns
  return rows;
}

TEST(ScenarioDocsTest, TheCoverageTableHasNoEmptyCellAndTellsTheTruth) {
  std::string tests;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(InTree("tests"))) {
    if (entry.path().extension() == ".cc") tests += ReadAll(entry.path().string());
  }
  const auto rows = Table(ReadAll(InTree("docs/scenarios.md")), "## Coverage");
  EXPECT_GE(rows.size(), 40u);
  for (const std::vector<std::string>& row : rows) {
    ASSERT_EQ(row.size(), 3u) << row.front();
    for (const std::string& cell : row) EXPECT_NE(cell, "") << row.front();
    EXPECT_TRUE(std::filesystem::exists(InTree("scenarios/" + row[1] + ".scenario.json"))) << row.front();
    const std::size_t dot = row[2].find('.');
    ASSERT_NE(dot, std::string::npos) << row.front();
    const std::string name = "(" + row[2].substr(0, dot) + ", " + row[2].substr(dot + 1) + ")";
    EXPECT_NE(tests.find(name), std::string::npos) << row.front() << ": no test " << row[2];
  }
}

// The fenced blocks of kind jsonc; each is a whole scenario.
std::vector<std::string> Examples(const std::string& markdown) {
  std::vector<std::string> blocks;
  std::istringstream lines(markdown);
  std::string line, block;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (!inside && line == "```jsonc") {
      inside = true;
      block.clear();
    } else if (inside && line == "```") {
      inside = false;
      blocks.push_back(block);
    } else if (inside) {
      block += line + "\n";
    }
  }
  return blocks;
}

TEST(ScenarioDocsTest, EveryExampleLoadsAndFitsTheSchema) {
  const std::vector<std::string> examples = Examples(ReadAll(InTree("docs/scenarios.md")));
  EXPECT_GE(examples.size(), 10u);
  for (const std::string& example : examples) {
    const LoadedScenario loaded = ParseScenario(example, "docs/scenarios.md");
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text() << "\n" << example;
    EXPECT_THAT(Mistakes(example), IsEmpty()) << example;
  }
}

TEST(ScenarioDocsTest, EveryFieldIsExplained) {
  const std::string text = ReadAll(InTree("docs/scenarios.md"));
  for (const ObjectShape& shape : ScenarioShapes()) {
    for (const FieldShape& field : shape.fields) {
      const bool named = text.find("`" + field.name + "`") != std::string::npos ||
                         text.find("\"" + field.name + "\"") != std::string::npos;
      EXPECT_TRUE(named) << shape.name << "/" << field.name;
    }
  }
}

}  // namespace
}  // namespace opensandbox::emulator
