// The quick starts of the README, run as they stand there.
#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>

#include "tests/cmd/child_process.h"

namespace opensandbox::emulator {
namespace {

using ::testing::HasSubstr;

// The first block behind the heading that begins with ```LANGUAGE.
std::string BlockOf(const std::string& text, const std::string& heading, const std::string& language) {
  const std::size_t section = text.find("\n## " + heading + "\n");
  if (section == std::string::npos) return "";
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = text.find(fence, section);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find("\n```", begin);
  return text.substr(begin + fence.size(), end + 1 - begin - fence.size());
}

const std::string kReadme = ReadWholeFile(OPENSANDBOX_SOURCE_DIR "/README.md");

// The scenario that the README's shell lines write to a file.
std::string ReadmeScenario() {
  const std::string shell = BlockOf(kReadme, "litellm without a provider", "sh");
  const std::size_t begin = shell.find("<<'JSON'\n");
  const std::size_t end = shell.find("\nJSON\n");
  if (begin == std::string::npos || end == std::string::npos) return "";
  return shell.substr(begin + 9, end + 1 - begin - 9);
}

TEST(QuickstartTest, TheCppProgramPrintsWhatTheScenarioSays) {
  TemporaryFolder folder;
  ChildProcess server({"serve", "--scenario", folder.Write("hello.scenario.json", ReadmeScenario()), "--port", "0"});
  const std::string ready = server.ReadLine();
  const std::size_t begin = ready.find("\"address\":\"") + 11;
  const std::string address = ready.substr(begin, ready.find('"', begin) - begin);
  ASSERT_THAT(address, HasSubstr("127.0.0.1:"));

  const ProgramResult result = RunProgram(
      {"OPEN_SANDBOX_API_BASE=http://" + address + "/v1", "OPEN_SANDBOX_API_KEY=hello", OPENSANDBOX_QUICKSTART},
      "/usr/bin/env");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "42\n");
  server.Signal(SIGTERM);
  const ProgramResult served = server.Wait();
  EXPECT_EQ(served.exit_code, 0);
  EXPECT_THAT(served.err, HasSubstr("PASS"));
}

// The README shows the example file, not a likeness of it.
TEST(QuickstartTest, TheReadmeShowsTheExampleThatIsBuilt) {
  const std::string example = ReadWholeFile(OPENSANDBOX_SOURCE_DIR "/client/examples/quickstart.cc");
  const std::string shown = BlockOf(kReadme, "C++ client", "cpp");
  ASSERT_NE(shown, "");
  EXPECT_THAT(example, HasSubstr(shown));
}

}  // namespace
}  // namespace opensandbox::emulator
