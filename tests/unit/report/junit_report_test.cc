#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "emulator/report/report.h"
#include "tests/unit/report/xml_reader.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// What the common JUnit XSD (Jenkins' junit-10.xsd) allows and demands.
struct Shape {
  std::set<std::string> required;
  std::set<std::string> optional;
  std::set<std::string> children;
};
const std::map<std::string, Shape> kShapes = {
    {"testsuites", {{}, {"name", "time", "tests", "failures", "disabled", "errors"}, {"testsuite"}}},
    {"testsuite",
     {{"name", "tests"},
      {"failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package", "file"},
      {"properties", "testcase", "system-out", "system-err"}}},
    {"properties", {{}, {}, {"property"}}},
    {"property", {{"name", "value"}, {}, {}}},
    {"testcase",
     {{"name", "classname"},
      {"assertions", "time", "status", "file", "line"},
      {"skipped", "error", "failure", "properties", "system-out", "system-err"}}},
    {"failure", {{}, {"message", "type"}, {}}},
    {"skipped", {{}, {"message", "type"}, {}}},
    {"system-out", {{}, {}, {}}},
};

void ExpectShape(const XmlElement& element) {
  ASSERT_TRUE(kShapes.count(element.name)) << element.name;
  const Shape& shape = kShapes.at(element.name);
  for (const std::string& name : shape.required) {
    EXPECT_TRUE(element.attributes.count(name)) << element.name << " lacks " << name;
  }
  for (const auto& [name, value] : element.attributes) {
    EXPECT_TRUE(shape.required.count(name) || shape.optional.count(name)) << element.name << " has " << name;
    if (name == "time") {
      EXPECT_TRUE(std::regex_match(value, std::regex("[0-9]+\\.[0-9]+"))) << value;
    }
    if (std::set<std::string>{"tests", "failures", "errors", "skipped"}.count(name)) {
      EXPECT_TRUE(std::regex_match(value, std::regex("[0-9]+"))) << value;
    }
  }
  for (const XmlElement& child : element.children) {
    EXPECT_TRUE(shape.children.count(child.name)) << element.name << " holds " << child.name;
    ExpectShape(child);
  }
}

XmlElement Parse(const std::string& xml) {
  std::string complaint;
  const auto root = XmlReader::Read(xml, &complaint);
  EXPECT_TRUE(root.has_value()) << complaint << "\n" << xml;
  return root.value_or(XmlElement{});
}

std::map<std::string, std::string> Properties(const XmlElement& test_case) {
  std::map<std::string, std::string> properties;
  if (const XmlElement* list = test_case.Child("properties")) {
    for (const XmlElement& property : list->children) {
      properties[property.attributes.at("name")] = property.attributes.at("value");
    }
  }
  return properties;
}

std::vector<ReportRow> ThreeRows() {
  ReportRow passed;
  passed.name = "boots-at-once";
  passed.file = "scenarios/lifecycle/boots-at-once.scenario.json";
  passed.seed = 7;
  passed.real_duration = 1500ms;
  passed.verdict.virtual_duration = 90s;
  passed.verdict.warnings = {"one & only"};
  ReportRow failed;
  failed.name = "leaks \"badly\"";
  failed.file = "leaks.scenario.json";
  failed.seed = 8;
  failed.real_duration = 250ms;
  failed.verdict.passed = false;
  failed.verdict.failures = {std::string("got <html> & \"x\" \x01\x1B[0m\xFF ]]>\nsecond line"), "and more"};
  ReportRow skipped;
  skipped.name = "k8s";
  skipped.file = "/abs/dir/../k8s.scenario.json";
  skipped.skipped = true;
  skipped.skip_reason = "not <yet>";
  skipped.real_duration = 9s;
  return {passed, failed, skipped};
}

TEST(JUnitReportTest, HasTheShapeOfTheCommonSchema) {
  const XmlElement root = Parse(JUnitXml(ThreeRows(), "opensandbox-emulator"));
  EXPECT_EQ(root.name, "testsuites");
  ExpectShape(root);
}

TEST(JUnitReportTest, CountsAndTimesAddUp) {
  const XmlElement root = Parse(JUnitXml(ThreeRows(), "opensandbox-emulator"));
  ASSERT_EQ(root.children.size(), 1u);
  const XmlElement& suite = root.children[0];
  EXPECT_EQ(suite.attributes.at("name"), "opensandbox-emulator");
  EXPECT_EQ(suite.attributes.at("tests"), "3");
  EXPECT_EQ(suite.attributes.at("failures"), "1");
  EXPECT_EQ(suite.attributes.at("errors"), "0");
  EXPECT_EQ(suite.attributes.at("skipped"), "1");
  EXPECT_EQ(suite.attributes.at("time"), "1.750");
  ASSERT_EQ(suite.children.size(), 3u);
  EXPECT_EQ(suite.children[0].attributes.at("time"), "1.500");
  EXPECT_EQ(suite.children[2].attributes.at("time"), "0.000");
}

TEST(JUnitReportTest, APassingCaseHasItsPropertiesAndWarnings) {
  const XmlElement root = Parse(JUnitXml(ThreeRows(), "s"));
  const XmlElement& passed = root.children.at(0).children.at(0);
  EXPECT_EQ(passed.attributes.at("classname"), "scenarios.lifecycle");
  EXPECT_EQ(passed.attributes.at("file"), "scenarios/lifecycle/boots-at-once.scenario.json");
  EXPECT_EQ(passed.Child("failure"), nullptr);
  EXPECT_EQ(passed.Child("skipped"), nullptr);
  EXPECT_THAT(Properties(passed),
              IsSupersetOf({std::pair<const std::string, std::string>{"seed", "7"}, {"virtual", "90s"}}));
  ASSERT_NE(passed.Child("system-out"), nullptr);
  EXPECT_EQ(passed.Child("system-out")->text, "warning: one & only\n");
}

TEST(JUnitReportTest, AFailureIsEscapedAndTellsTheReplay) {
  const XmlElement root = Parse(JUnitXml(ThreeRows(), "s"));
  const XmlElement& failed = root.children.at(0).children.at(1);
  EXPECT_EQ(failed.attributes.at("name"), "leaks \"badly\"");
  EXPECT_EQ(failed.attributes.at("classname"), "s");
  const XmlElement* failure = failed.Child("failure");
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->attributes.at("message"),
            "got <html> & \"x\" \xEF\xBF\xBD\xEF\xBF\xBD[0m\xEF\xBF\xBD ]]>\nsecond line");
  EXPECT_THAT(failure->text, HasSubstr("\nand more\n"));
  EXPECT_THAT(failure->text, HasSubstr("seed 8; replay: opensandbox-emulator run leaks.scenario.json --seed 8\n"));
}

TEST(JUnitReportTest, ASkippedCaseTellsWhy) {
  const XmlElement root = Parse(JUnitXml(ThreeRows(), "s"));
  const XmlElement& skipped = root.children.at(0).children.at(2);
  ASSERT_NE(skipped.Child("skipped"), nullptr);
  EXPECT_EQ(skipped.Child("skipped")->attributes.at("message"), "not <yet>");
  EXPECT_EQ(skipped.attributes.at("classname"), "abs.dir");
}

TEST(JUnitReportTest, NoRowsIsStillADocument) {
  const XmlElement root = Parse(JUnitXml({}, "s"));
  ExpectShape(root);
  EXPECT_EQ(root.children.at(0).attributes.at("tests"), "0");
}

TEST(XmlReaderTest, RefusesWhatIsNotWellFormed) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
  std::string complaint;
  for (const std::string body : {"<a>", "<a></b>", "<a b=\"1\" b=\"2\"/>", "<a b=\"<\"/>", "<a>&x;</a>", "<a>]]></a>",
                                 "<a>\x01</a>", "<a/><b/>", "<a b=1/>", "<a>a<</a>"}) {
    EXPECT_FALSE(XmlReader::Read(head + body, &complaint).has_value()) << body;
  }
  EXPECT_TRUE(XmlReader::Read(head + "<a b=\"1\">x<c/>&amp;</a>\n", &complaint).has_value()) << complaint;
}

}  // namespace
}  // namespace opensandbox::emulator
