#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cmd/child_process.h"

namespace opensandbox::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// `serve` on free ports, ready.
class Server {
 public:
  explicit Server(std::vector<std::string> more = {}) : child_(Arguments(std::move(more))) {
    line_ = child_.ReadLine();
    ready_ = nlohmann::ordered_json::parse(line_, nullptr, false);
    EXPECT_TRUE(ready_.is_object()) << line_ << child_.Wait().err;
  }
  const std::string& line() const { return line_; }
  const nlohmann::ordered_json& ready() const { return ready_; }
  ChildProcess& child() { return child_; }
  int port() const { return PortOf(ready_.value("address", "")); }
  int control_port() const { return PortOf(ready_.value("control", "")); }

  std::string Get(const std::string& path, const std::string& headers = "") const {
    return HttpExchange(port(), "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + "\r\n");
  }
  std::string Create(const std::string& headers = "") const {
    const std::string body =
        R"({"image":{"uri":"python:3.12"},"timeout":300,"entrypoint":["x"],"resourceLimits":{"cpu":"1","memory":"1Gi"}})";
    return HttpExchange(port(), "POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers +
                                    "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                                    "\r\n\r\n" + body);
  }
  ProgramResult Stop(int signal_number = SIGTERM) {
    child_.Signal(signal_number);
    return child_.Wait();
  }

 private:
  static std::vector<std::string> Arguments(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"serve", "--port", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  ChildProcess child_;
  std::string line_;
  nlohmann::ordered_json ready_;
};

TEST(ServeTest, TheReadyLineTellsWhereSeedAndPid) {
  Server server({"--seed", "42"});
  EXPECT_THAT(server.line(), StartsWith("{\"address\":\"127.0.0.1:"));
  std::vector<std::string> keys;
  for (const auto& [key, value] : server.ready().items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::ElementsAre("address", "control", "tls", "seed", "pid"));
  EXPECT_GT(server.port(), 0);
  EXPECT_GT(server.control_port(), 0);
  EXPECT_NE(server.port(), server.control_port());
  EXPECT_TRUE(server.ready()["tls"].is_null());
  EXPECT_EQ(server.ready()["seed"], 42);
  EXPECT_EQ(server.ready()["pid"], server.child().pid());
}

TEST(ServeTest, AnswersAsSoonAsItIsReady) {
  Server server;
  EXPECT_THAT(server.Get("/health"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(server.Create(), StartsWith("HTTP/1.1 202"));
}

TEST(ServeTest, ADrawnSeedIsReported) {
  Server server;
  EXPECT_TRUE(server.ready()["seed"].is_number_unsigned());
  EXPECT_NE(server.ready()["seed"], 0);
}

TEST(ServeTest, SigtermEndsItWithZero) {
  Server server;
  const ProgramResult result = server.Stop(SIGTERM);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, server.line() + "\n") << "stdout holds the ready line only";
  EXPECT_THAT(server.Get("/health"), IsEmpty());
}

TEST(ServeTest, SigintEndsItWithZero) {
  Server server;
  EXPECT_EQ(server.Stop(SIGINT).exit_code, 0);
}

TEST(ServeTest, ShutdownOfTheControlApiEndsItWithZero) {
  Server server;
  const std::string answer = HttpExchange(
      server.control_port(), "POST /shutdown HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.control_port()) +
                                 "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 2"));
  EXPECT_EQ(server.child().Wait().exit_code, 0);
}

TEST(ServeTest, AnIdleConnectionDoesNotHoldTheDrain) {
  Server server;
  const IdleConnection idle(server.port());
  const IdleConnection idle_control(server.control_port());
  ASSERT_TRUE(idle.connected());
  ASSERT_TRUE(idle_control.connected());
  EXPECT_EQ(server.Stop().exit_code, 0);
}

TEST(ServeTest, TheReadyFileIsTheReadyLine) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/ready.json";
  std::ofstream(file) << "stale";
  Server server({"--ready-file", file});
  EXPECT_EQ(ReadWholeFile(file), server.line() + "\n") << "written before the line on stdout";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "no temporary file stays";
  EXPECT_EQ(server.Stop().exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ServeTest, AReadyFileThatCanNotBeWrittenIsTold) {
  const ProgramResult result = RunProgram({"serve", "--port", "0", "--ready-file", "/nonexistent/ready.json"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("--ready-file: /nonexistent/ready.json: "));
}

TEST(ServeTest, AUsedPortIsOneLineAndItsCode) {
  Server server;
  for (const std::string flag : {"--port", "--control-port"}) {
    std::vector<std::string> arguments = {"serve", flag, std::to_string(server.port())};
    if (flag != "--port") arguments.insert(arguments.end(), {"--port", "0"});
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_code, 4) << flag;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(std::to_string(server.port())));
  }
}

TEST(ServeTest, ABadHostIsBadUsage) {
  const ProgramResult result = RunProgram({"serve", "--port", "0", "--host", "no.such.host.invalid", "--api-key", "k"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(ServeTest, AScenarioIsPlayedAndJudgedAtTheEnd) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("busy.scenario.json", R"({"schemaVersion": 1, "name": "busy",
      "faults": [{"id": "busy", "on": "createSandbox", "nth": 1, "respond": {"status": 503}}]})");
  Server server({"--scenario", file, "--seed", "3"});
  EXPECT_THAT(server.Create(), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(server.Create(), StartsWith("HTTP/1.1 202"));
  const ProgramResult result = server.Stop();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("busy      FAIL"), HasSubstr("sb-1 leaked: "),
                                HasSubstr("replay: opensandbox-emulator serve --scenario " + file + " --seed 3")));
}

TEST(ServeTest, AFolderGivesEachScenarioATenant) {
  const TemporaryFolder folder;
  folder.Write("busy.scenario.json", R"({"schemaVersion": 1, "name": "busy",
      "faults": [{"id": "busy", "on": "createSandbox", "respond": {"status": 503}}]})");
  folder.Write("calm.scenario.json", R"({"schemaVersion": 1, "name": "calm"})");
  Server server({"--scenario", folder.path()});
  EXPECT_THAT(server.Create("OPEN-SANDBOX-API-KEY: busy\r\n"), StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(server.Create("OPEN-SANDBOX-API-KEY: calm\r\n"), StartsWith("HTTP/1.1 202"));
  EXPECT_THAT(server.Create("OPEN-SANDBOX-API-KEY: other\r\n"), StartsWith("HTTP/1.1 401"));
  const ProgramResult result = server.Stop();
  EXPECT_THAT(result.err, AllOf(HasSubstr("busy      PASS"), HasSubstr("calm      FAIL")));
}

TEST(ServeTest, OneNameTwiceInAFolderIsAMistake) {
  const TemporaryFolder folder;
  folder.Write("a/same.scenario.json", R"({"schemaVersion": 1, "name": "same"})");
  folder.Write("b/same.scenario.json", R"({"schemaVersion": 1, "name": "same"})");
  const ProgramResult result = RunProgram({"serve", "--port", "0", "--scenario", folder.path()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("b/same.scenario.json: the name \"same\" is that of "),
                                HasSubstr("a/same.scenario.json too")));
}

TEST(ServeTest, AFolderAndAKeyDoNotGoTogether) {
  const TemporaryFolder folder;
  folder.Write("a.scenario.json", R"({"schemaVersion": 1, "name": "a"})");
  const ProgramResult result = RunProgram({"serve", "--port", "0", "--scenario", folder.path(), "--api-key", "secret"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--api-key does not go with a folder"));
}

TEST(ServeTest, BadAndMissingScenariosHaveTheirCodes) {
  const TemporaryFolder folder;
  const std::string bad = folder.Write("bad.scenario.json", R"({"schemaVersion": 1, "name": "bad", "x": 1})");
  const ProgramResult mistake = RunProgram({"serve", "--port", "0", "--scenario", bad});
  EXPECT_EQ(mistake.exit_code, 3);
  EXPECT_THAT(mistake.err, HasSubstr("bad.scenario.json:1: /x: "));
  const ProgramResult missing = RunProgram({"serve", "--port", "0", "--scenario", folder.path() + "/none"});
  EXPECT_EQ(missing.exit_code, 5);
}

TEST(ServeTest, OnlyTheKeyIsAccepted) {
  Server server({"--api-key", "secret"});
  EXPECT_THAT(server.Create("OPEN-SANDBOX-API-KEY: secret\r\n"), StartsWith("HTTP/1.1 202"));
  EXPECT_THAT(server.Create("OPEN-SANDBOX-API-KEY: wrong\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(server.Create(), StartsWith("HTTP/1.1 401"));
}

TEST(ServeTest, ClocksAreTakenFromTheFlag) {
  for (const std::string clock : {"real", "virtual", "scale=1000"}) {
    Server server({"--clock", clock});
    EXPECT_THAT(server.Create(), StartsWith("HTTP/1.1 202")) << clock;
    EXPECT_EQ(server.Stop().exit_code, 0) << clock;
  }
}

// The first number behind "Max open files" in /proc/PID/limits; "" if there is no /proc.
std::string SoftDescriptorLimit(pid_t pid) {
  std::ifstream limits("/proc/" + std::to_string(pid) + "/limits");
  std::string line;
  while (std::getline(limits, line)) {
    std::istringstream words(line);
    std::string max, open, files, soft;
    words >> max >> open >> files >> soft;
    if (max == "Max" && open == "open" && files == "files") return soft;
  }
  return "";
}

TEST(ServeTest, RaisesItsDescriptorLimit) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit low = before;
  low.rlim_cur = 256;
  setrlimit(RLIMIT_NOFILE, &low);
  Server server;
  setrlimit(RLIMIT_NOFILE, &before);
  const std::string soft = SoftDescriptorLimit(server.child().pid());
  if (soft.empty()) GTEST_SKIP() << "no /proc here";
  EXPECT_EQ(soft, before.rlim_max == RLIM_INFINITY ? "unlimited" : std::to_string(before.rlim_max));
}

}  // namespace
}  // namespace opensandbox::emulator
