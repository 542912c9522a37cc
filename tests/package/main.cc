// What somebody writes who has read one page. Every request struct with designated initialisers: they must not warn.
#include <iostream>
#include <memory>

#include "opensandbox/interception/interception_handler.h"
#include "opensandbox/providers/e2b_provider.h"
#include "opensandbox/providers/fallback_provider.h"
#include "opensandbox/providers/opensandbox_provider.h"
#include "opensandbox/providers/scoped_sandbox.h"

namespace {

// The interception with a model of two lines.
bool Intercept(std::shared_ptr<opensandbox::SandboxProvider> provider) {
  opensandbox::InterceptionHandler handler({.sandbox_config = std::move(provider)});
  int round = 0;
  const auto model = [&round](const std::string&, std::stop_token) -> opensandbox::Result<std::string> {
    if (round++ == 0) {
      return std::string(R"({"output":[{"type":"function_call","call_id":"c","name":"litellm_code_execution",)"
                         R"("arguments":"{\"code\":\"print(6*7)\"}"}]})");
    }
    return std::string(R"({"output":[{"type":"message","content":[]}]})");
  };
  const auto result = handler.RunAgenticLoop(
      {.json = R"({"model":"m","input":"6*7?","tools":[{"type":"code_interpreter"}]})", .identity = "me"}, model);
  return result && result->calls.size() == 1 && result->calls[0].output == "42\n";
}

}  // namespace

int main() {
  opensandbox::LeakLedger leaks;
  std::shared_ptr<opensandbox::SandboxProvider> provider =
      opensandbox::MakeOpenSandboxProvider({.ready_timeout = std::chrono::seconds(10), .leak_sink = &leaks});
  auto sandbox =
      opensandbox::ScopedSandbox::Create(provider.get(), {.timeout_seconds = 60, .metadata = {{"by", "me"}}});
  if (!sandbox) return std::cerr << sandbox.error().Describe() << "\n", 1;
  const auto result = sandbox->RunCode({.code = "print(6*7)"});
  if (!result) return std::cerr << result.error().Describe() << "\n", 1;
  std::cout << result->stdout_text;
  if (!sandbox->Delete()) return 1;

  const auto chain = opensandbox::MakeFallbackProvider(
      {{.provider = provider}, {.provider = opensandbox::MakeE2bProvider({.api_key = "e2b_0"}), .image = "base"}},
      {.creates_per_member = 1});
  const auto again = opensandbox::CodeInterpreter(*chain, "print(6*7)", {.sandboxes_max = 1, .leak_sink = &leaks});
  if (!again) return std::cerr << again.error().Describe() << "\n", 1;
  std::cout << again->stdout_text;

  if (!Intercept(provider)) return std::cerr << "the interception gave something else\n", 1;
  std::cout << "intercepted\n";
  return leaks.Leaks().empty() ? 0 : 1;
}
