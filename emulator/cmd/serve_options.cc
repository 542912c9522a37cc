#include "emulator/cmd/serve_options.h"

#include <charconv>
#include <cmath>

#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kScalePrefix = "scale=";
constexpr double kScaleMax = 1e6;

std::shared_ptr<Clock> RealClock() {
  return std::shared_ptr<Clock>(&SystemClock::Instance(), [](Clock*) {});
}

// Null: no such clock.
std::shared_ptr<Clock> ParseClock(const std::string& text) {
  if (text == "real") return RealClock();
  // Clients in other processes: their bytes can't be counted, so time moves only by the control API.
  if (text == "virtual") return std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  if (text.substr(0, kScalePrefix.size()) != kScalePrefix) return nullptr;
  double factor = 0;
  const char* begin = text.data() + kScalePrefix.size();
  const char* end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(begin, end, factor);
  if (status != std::errc() || rest != end || !std::isfinite(factor) || factor <= 0 || factor > kScaleMax) {
    return nullptr;
  }
  return std::make_shared<ScaledClock>(factor);
}

}  // namespace

CommandLine MakeServeCommandLine() {
  return CommandLine(
      "serve", "",
      "Answers clients as the provider would, misbehaves as the scenario says, and keeps account of it. When it is\n"
      "ready, one line of JSON on stdout tells its addresses. SIGTERM, SIGINT and POST /shutdown on the control API\n"
      "end it; then the verdict on a loaded scenario goes to stderr.",
      "opensandbox-emulator serve --port 8080 --scenario scenarios/cleanup/delete-fails-twice.scenario.json",
      {{"scenario", "FILE|DIR",
        "what the provider does (default: everything works); of a folder, each\n"
        "scenario gets a tenant of its own, whose API key is the scenario's name"},
       {"host", "ADDRESS", "where to listen (default: 127.0.0.1); others need API keys"},
       {"port", "N", "0: any free one (default: 8080)"},
       {"control-port", "N", "of the control API (default: 0, any free one)"},
       {"clock", "CLOCK",
        "real, virtual (moved by the control API only) or scale=N (N times as\n"
        "fast) (default: real)"},
       {"seed", "N", "not 0; repeats the chances of an earlier run (default: drawn)"},
       {"profile", "P", "the provider's flavour; only docker so far (default: docker)"},
       {"execution", "E", "what running code means; only scripted so far (default: scripted)"},
       {"strict", "", "a run of code that no rule matched fails the verdict"},
       {"api-key", "KEY", "the only key accepted (default: any, or none)"},
       {"ready-file", "FILE", "write the ready line there too; removed at the end"}});
}

ServeOptions ReadServeOptions(CommandLine& line) {
  ServeOptions options;
  options.scenario_path = line.Value("scenario");
  if (const auto host = line.Value("host")) options.host = *host;
  options.port = static_cast<int>(line.Number("port", 0, 65535).value_or(8080));
  options.control_port = static_cast<int>(line.Number("control-port", 0, 65535).value_or(0));
  options.clock = RealClock();
  if (const auto clock = line.Value("clock")) {
    options.clock = ParseClock(*clock);
    if (options.clock == nullptr) line.ComplainAbout("clock", *clock, "real, virtual or scale=N with N above 0");
  }
  options.seed = line.Number("seed", 1, UINT64_MAX).value_or(0);
  const std::string profile = line.Value("profile").value_or("docker");
  if (profile == "kubernetes" || profile == "spec") {
    line.Complain("--profile " + profile + " is not emulated yet, only docker is");
  } else if (profile != "docker") {
    line.ComplainAbout("profile", profile, "docker");
  }
  const std::string execution = line.Value("execution").value_or("scripted");
  if (execution == "local") {
    line.Complain("--execution local does not exist yet, only scripted does");
  } else if (execution != "scripted") {
    line.ComplainAbout("execution", execution, "scripted");
  }
  options.strict = line.Has("strict");
  options.api_key = line.Value("api-key");
  options.ready_file = line.Value("ready-file");
  return options;
}

}  // namespace opensandbox::emulator
