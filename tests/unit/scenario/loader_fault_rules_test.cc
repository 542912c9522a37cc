// What the newer parts of fault and listener rules must not say. One row, one mistake, one message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/scenario/base64.h"
#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {
namespace {

struct FaultRuleCase {
  const char* name;
  const char* rule;     // fields of the one fault, besides id and on
  const char* problem;  // "POINTER: message", the pointer below the fault
  const char* on = "runCode";
};
void PrintTo(const FaultRuleCase& row, std::ostream* out) { *out << row.name; }

class LoaderFaultRuleTest : public testing::TestWithParam<FaultRuleCase> {};

TEST_P(LoaderFaultRuleTest, IsTheOneMistakeNamed) {
  const std::string text = R"({"schemaVersion": 1, "name": "n", "faults": [{"id": "a", "on": ")" +
                           std::string(GetParam().on) + "\", " + GetParam().rule + "}]}";
  std::vector<std::string> found;
  for (const Problem& problem : ParseScenario(text, "f").problems) {
    found.push_back(problem.pointer.substr(std::string("/faults/0").size()) + ": " + problem.message);
  }
  EXPECT_THAT(found, testing::ElementsAre(GetParam().problem));
}

constexpr FaultRuleCase kFaultRules[] = {
    {"LateOfARead", R"("commit": "late", "respond": {})",
     "/commit: found a late effect of \"ping\", expected a request that changes a sandbox: createSandbox, "
     "deleteSandbox, pauseSandbox, resumeSandbox, renewExpiration or patchSandboxMetadata",
     "ping"},
    {"LateWithoutAReply", R"("commit": "late", "delay": "1s")",
     "/commit: found a request without effect and without a reply, expected \"respond\" or a cut \"at\": "
     "\"beforeHeaders\"",
     "createSandbox"},
    {"CommitWord", R"("commit": "later", "respond": {})", "/commit: found \"later\", expected true, false or \"late\"",
     "createSandbox"},
    {"CommitAfterAlone", R"("commitAfter": "1s", "respond": {})",
     "/commitAfter: found \"commitAfter\" without \"commit\": \"late\", expected both", "createSandbox"},
    {"AuthBesideRespond", R"("auth": "missingKey", "respond": {})",
     "/auth: found \"auth\" beside \"respond\", expected only one of respond or auth", "ping"},
    {"PatchNoObject", R"("patch": [1])", "/patch: found an array, expected an object of members to change", "ping"},
    {"QuotaEmpty", R"("over": {}, "delay": "1s")",
     "/over: found a quota of nothing, expected \"requests\", \"live\" or \"streams\""},
    {"QuotaWithoutPer", R"("over": {"requests": 1}, "delay": "1s")",
     "/over: found only one of \"requests\" and \"per\", expected both"},
    {"ResetWithoutQuota", R"("respond": {"status": 429, "retryAfter": "reset"})",
     "/respond: found \"retryAfter\": \"reset\" without a quota of requests, expected \"over\""},
    {"DropOfEverything", R"("drop": {})",
     "/drop: found every event of the stream, expected \"event\", \"count\", \"every\" or \"match\" to choose some"},
    {"DropOfAFixedReply", R"("drop": {"event": 1})",
     "/drop: found events of getSandbox, expected an operation that answers with a stream", "getSandbox"},
    {"DropOfOwnReply", R"("drop": {"event": 1}, "respond": {})",
     "/drop: found events of a reply that the fault itself makes, expected only one of them"},
    {"ReorderBackwards", R"("reorder": {"event": 3, "behind": 3})",
     "/reorder/behind: found an event that is not behind the other, expected a later one"},
    {"InsertNothing", R"("insert": {"event": 1})", "/insert: found nothing to insert, expected \"text\" or \"base64\""},
    {"InsertNoBase64", R"("insert": {"event": 1, "base64": "abc"})",
     "/insert/base64: found \"abc\", expected base64 with its padding"},
    {"CoalesceOne", R"("coalesce": {"event": 1, "count": 1})",
     "/coalesce/count: found one event, expected at least 2 to put together"},
    {"SplitNowhere", R"("split": {"event": 1})",
     "/split: found a split without a place, expected \"bytes\", \"atByte\", \"fromEnd\" or \"inCharacters\""},
    {"SplitTwice", R"("split": {"bytes": 1, "atByte": 1})",
     "/split/atByte: found \"atByte\" beside \"bytes\", expected only one of bytes, atByte, fromEnd or inCharacters"},
    {"StallNowhere", R"("stall": {"for": "1s"})",
     "/stall: found a stall without a place, expected \"atEvent\" or \"atByte\""},
    {"ThrottleOfNothing", R"("throttle": {"every": "1s"})",
     "/throttle: found a throttle without a limit, expected \"bytes\" or \"events\""},
    {"InChunkWithoutEvent", R"("cut": {"atByte": 1, "inChunk": "data"})",
     "/cut/inChunk: found \"inChunk\" without \"atEvent\", expected the events before it"},
    {"InChunkAtByte", R"("cut": {"atEvent": 1, "atByte": 1, "inChunk": "size"})",
     "/cut/inChunk: found a chunk that breaks off elsewhere than in its data beside \"atByte\", expected \"data\""},
    {"DrawnWithoutSeed", R"("delay": {"from": "1s", "to": "2s"})",
     "/delay: found chance without a seed, expected the scenario to have a \"seed\""},
    {"TwoBodies", R"("respond": {"body": "a", "bodyBase64": "YQ=="})",
     "/respond/bodyBase64: found \"bodyBase64\" beside \"body\", expected only one of body, bodyBase64 or "
     "bodyGenerated"},
    {"ThrottleBehindNothing", R"("cut": {"at": "beforeHeaders"}, "throttle": {"bytes": 1})",
     "/throttle: found \"throttle\" behind a cut before the headers, expected it gone"},
};
INSTANTIATE_TEST_SUITE_P(All, LoaderFaultRuleTest, testing::ValuesIn(kFaultRules),
                         [](const auto& test) { return test.param.name; });

struct PartCase {
  const char* name;
  const char* fields;
  const char* problem;
};
void PrintTo(const PartCase& row, std::ostream* out) { *out << row.name; }

class LoaderPartTest : public testing::TestWithParam<PartCase> {};

TEST_P(LoaderPartTest, IsTheOneMistakeNamed) {
  const std::string text = R"({"schemaVersion": 1, "name": "n", )" + std::string(GetParam().fields) + "}";
  std::vector<std::string> found;
  for (const Problem& problem : ParseScenario(text, "f").problems) {
    found.push_back(problem.pointer + ": " + problem.message);
  }
  EXPECT_THAT(found, testing::ElementsAre(GetParam().problem));
}

constexpr PartCase kParts[] = {
    {"UniformBackwards", R"("seed": 1, "faults": [{"id": "a", "on": "ping", "delay": {"from": "2s", "to": "1s"}}])",
     "/faults/0/delay/to: found the end below the beginning, expected \"to\" at or above \"from\""},
    {"LognormalWithoutMax",
     R"("seed": 1, "faults": [{"id": "a", "on": "ping", "delay": {"median": "2s", "sigma": 1}}])",
     "/faults/0/delay: found no field \"max\", expected it here"},
    {"MixedDraws",
     R"("seed": 1, "faults": [{"id": "a", "on": "ping", "delay": {"median": "2s", "sigma": 1, "max": "9s", "to": "1s"}}])",
     "/faults/0/delay/to: found \"to\" beside \"median\", expected only one kind of draw"},
    {"DeathThatNeverComes", R"("sandboxes": [{"die": {"face": "rst"}}])",
     "/sandboxes/0/die: found a death that never comes, expected \"after\", \"on\" or \"afterEvents\""},
    {"DeathFace", R"("sandboxes": [{"die": {"after": "1s", "face": "blackhole"}}])",
     "/sandboxes/0/die/face: found \"blackhole\", expected 404, 410, 502, rst, blackHole, cleanEnd or healthyPing (did "
     "you mean \"blackHole\"?)"},
    {"DeathNthAlone", R"("sandboxes": [{"die": {"after": "1s", "nth": 2}}])",
     "/sandboxes/0/die/nth: found \"nth\" without \"on\", expected the operation that it counts"},
    {"RefusedByNumber", R"("listener": [{"id": "a", "do": "refuse", "nth": 1}])",
     "/listener/0/nth: found \"nth\" of connections that are refused before anybody can count them, expected a "
     "\"window\""},
    {"ListenerChanceWithoutSeed", R"("listener": [{"id": "a", "do": "reset", "probability": 0.5}])",
     "/listener/0/probability: found chance without a seed, expected the scenario to have a \"seed\""},
    {"NeverAndRefused", R"("sandboxes": [{"endpoint": {"never": true, "refused": true}}])",
     "/sandboxes/0/endpoint/refused: found \"refused\" beside \"never\", expected only one of them"},
};
INSTANTIATE_TEST_SUITE_P(All, LoaderPartTest, testing::ValuesIn(kParts),
                         [](const auto& test) { return test.param.name; });

TEST(Base64Test, DecodesAndRefuses) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("YQ=="), "a");
  EXPECT_EQ(DecodeBase64("YWI="), "ab");
  EXPECT_EQ(DecodeBase64("YWJj"), "abc");
  EXPECT_EQ(DecodeBase64("//4A"), std::string("\xff\xfe\x00", 3));
  for (const char* bad : {"Y", "YQ", "YQ=", "Y===", "YQ==YQ==", "YW-j", "YW j", "=YWJ"}) {
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace opensandbox::emulator
