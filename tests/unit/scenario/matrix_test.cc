#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

LoadedScenario Load(const std::string& fields) {
  return ParseScenario(R"({"schemaVersion": 1, "name": "n", )" + fields + "}", "f");
}

std::vector<std::string> Names(const LoadedScenario& loaded) {
  std::vector<std::string> names;
  for (const auto& scenario : loaded.cases) names.push_back(scenario->name);
  return names;
}

std::vector<std::string> Problems(const std::string& fields) {
  std::vector<std::string> problems;
  for (const Problem& problem : Load(fields).problems) problems.push_back(problem.pointer + ": " + problem.message);
  return problems;
}

TEST(MatrixTest, AFileWithoutOneIsOneCase) {
  const LoadedScenario loaded = Load(R"("description": "${face}")");
  EXPECT_THAT(Names(loaded), ElementsAre("n"));
  EXPECT_EQ(loaded.scenario->description, "${face}");
}

TEST(MatrixTest, EachCombinationIsACaseTheLastAxisTurnsFastest) {
  const LoadedScenario loaded =
      Load(R"("matrix": {"code": [404, 500], "face": ["rst", "blackHole"]}, "description": "${code} ${face}!")");
  EXPECT_THAT(Names(loaded), ElementsAre("n-404-rst", "n-404-black-hole", "n-500-rst", "n-500-black-hole"));
  EXPECT_EQ(loaded.cases[1]->description, "404 blackHole!");
  EXPECT_EQ(loaded.scenario, loaded.cases[0]);
}

TEST(MatrixTest, AWholePlaceholderBecomesTheValueItself) {
  const LoadedScenario loaded = Load(R"("matrix": {"status": [404], "effect": [{"name": "cut", "rule": {"atByte": 5}}]},
      "faults": [{"id": "a", "on": "ping", "nth": "${status}", "cut": "${effect.rule}"}], "tags": ["${effect}"])");
  ASSERT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.scenario->faults[0].on.nth, 404u);
  EXPECT_EQ(loaded.scenario->faults[0].cut->at_byte, 5u);
  EXPECT_THAT(loaded.scenario->tags, ElementsAre("cut"));
}

TEST(MatrixTest, CombinationsAreLeftOut) {
  EXPECT_THAT(
      Names(Load(R"("matrix": {"a": [1, 2], "b": ["x", "y"]}, "except": [{"a": 1, "b": "y"}, {"a": 2, "b": "x"}],
      "description": "${a}${b}")")),
      ElementsAre("n-1-x", "n-2-y"));
}

TEST(MatrixTest, OtherDollarsAreText) {
  EXPECT_EQ(Load(R"("matrix": {"a": [1]}, "description": "${a} ${HOME} $a ${")").scenario->description,
            "1 ${HOME} $a ${");
}

TEST(MatrixTest, AMistakeOfAllCasesIsToldOnce) {
  EXPECT_THAT(Problems(R"("matrix": {"a": ["x", "y", "z"]}, "description": "${a}", "nmae": 1)"), testing::SizeIs(1));
}

TEST(MatrixTest, AMistakeOfOneCaseIsTold) {
  EXPECT_THAT(Problems(R"("matrix": {"a": ["pong", "ping"]}, "faults": [{"id": "a", "on": "${a}", "delay": "1s"}])"),
              ElementsAre(testing::StartsWith("/faults/0/on: found \"pong\"")));
}

TEST(MatrixTest, WhatIsWrongWithTheMatrixItself) {
  EXPECT_THAT(Problems(R"("matrix": [])"), ElementsAre(testing::StartsWith("/matrix: found an ")));
  EXPECT_THAT(Problems(R"("matrix": {"a": []}, "description": "${a}")"),
              ElementsAre("/matrix/a: found an array, expected an array of values"));
  EXPECT_THAT(Problems(R"("matrix": {"a": [1]})"),
              ElementsAre("/matrix/a: found values that nothing uses, expected ${a} somewhere"));
  EXPECT_THAT(Problems(R"("matrix": {"a": ["x y", "x-y"]}, "description": "${a}")"),
              ElementsAre("/matrix: found two cases called \"x-y\", expected values with different names"));
  EXPECT_THAT(Problems(R"("matrix": {"a": [{"b": 1}]}, "description": "${a}")"),
              ElementsAre("/matrix/a/0: found an object, expected a text, a number, true, false or an object with a "
                          "\"name\""));
  EXPECT_THAT(Problems(R"("matrix": {"a": [{"name": "x"}]}, "description": "${a.b}")"),
              ElementsAre("/description: found \"${a.b}\", expected a parameter that this case of the matrix has"));
  EXPECT_THAT(Problems(R"("matrix": {"a": [1]}, "except": [{"a": 2}], "description": "${a}")"),
              ElementsAre("/except/0/a: found the number 2 of \"a\", expected a value of the matrix"));
  EXPECT_THAT(Problems(R"("matrix": {"a": [1]}, "except": [{"a": 1}], "description": "${a}")"),
              testing::Contains("/except: found every case left out, expected some to stay"));
  EXPECT_THAT(Problems(R"("except": [{"a": 1}])"),
              ElementsAre("/except: found cases to leave out without a \"matrix\", expected both"));
}

TEST(MatrixTest, TenThousandCasesAreTheMost) {
  std::string hundred = "[0";
  for (int i = 1; i < 100; ++i) hundred += ", " + std::to_string(i);
  hundred += "]";
  const std::string two = R"("matrix": {"a": )" + hundred + R"(, "b": )" + hundred;
  EXPECT_EQ(Load(two + R"(}, "description": "${a}${b}")").cases.size(), 10000u);
  EXPECT_THAT(Problems(two + R"(, "c": [1, 2]}, "description": "${a}${b}${c}")"),
              ElementsAre("/matrix: found more than 10000 cases, expected fewer"));
}

}  // namespace
}  // namespace opensandbox::emulator
