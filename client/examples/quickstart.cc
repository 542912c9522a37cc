// Creates a sandbox, runs a line of Python in it, prints what it printed, deletes it. The README shows this program.
#include <iostream>

#include "opensandbox/providers/opensandbox_provider.h"
#include "opensandbox/providers/scoped_sandbox.h"

int main() {
  auto provider = opensandbox::MakeOpenSandboxProvider();  // OPEN_SANDBOX_API_BASE, OPEN_SANDBOX_API_KEY
  auto sandbox = opensandbox::ScopedSandbox::Create(provider.get(), {});
  if (!sandbox) return std::cerr << sandbox.error().Describe() << "\n", 1;
  auto result = sandbox->RunCode({.code = "print(6 * 7)"});
  std::cout << (result ? result->stdout_text : result.error().Describe());
}  // deleted here, on every path
