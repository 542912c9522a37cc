// docs/litellm-differences.md: 61 rows, each with a test that exists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace opensandbox {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "Suite.Case" of every test in the sources, and the name of every scenario file.
std::set<std::string> ExistingTests() {
  const fs::path root = OPENSANDBOX_SOURCE_DIR;
  std::set<std::string> names;
  const std::regex test(R"(TEST(_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))");
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    if (entry.path().extension() != ".cc") continue;
    const std::string text = ReadAll(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it) {
      names.insert((*it)[2].str() + "." + (*it)[3].str());
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(root / "scenarios")) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(DifferencesDocTest, EveryWeakSpotHasARowAndEachRowTestsThatExist) {
  const std::set<std::string> existing = ExistingTests();
  ASSERT_GT(existing.size(), 300u);
  std::istringstream doc(ReadAll(fs::path(OPENSANDBOX_SOURCE_DIR) / "docs" / "litellm-differences.md"));
  const std::regex row(R"(^\| W(\d+) \|.*\|(.*)\|$)");
  const std::regex quoted("`([^`]+)`");
  std::set<int> rows;
  std::string line;
  while (std::getline(doc, line)) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const int number = std::stoi(match[1]);
    EXPECT_TRUE(rows.insert(number).second) << "W" << number << " has two rows";
    const std::string tests = match[2];
    int count = 0;
    for (std::sregex_iterator it(tests.begin(), tests.end(), quoted), end; it != end; ++it, ++count) {
      EXPECT_EQ(existing.count((*it)[1]), 1u) << "W" << number << ": there is no test " << (*it)[1];
    }
    EXPECT_GT(count, 0) << "W" << number << " names no test";
  }
  ASSERT_EQ(rows.size(), 61u);
  EXPECT_EQ(*rows.begin(), 1);
  EXPECT_EQ(*rows.rbegin(), 61);
}

}  // namespace
}  // namespace opensandbox
