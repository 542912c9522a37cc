// Creates a sandbox, runs a line of Python in it, prints what it printed, deletes it.
// Needs OPEN_SANDBOX_API_BASE (and OPEN_SANDBOX_API_KEY, if the server wants one) in the environment.
#include <iostream>

#include "opensandbox/providers/opensandbox_provider.h"
#include "opensandbox/providers/scoped_sandbox.h"

int main() {
  const auto provider = opensandbox::MakeOpenSandboxProvider();
  try {
    opensandbox::ScopedSandbox sandbox = opensandbox::ScopedSandbox::Create(provider.get(), {}).value();
    std::cout << sandbox.RunCode({.code = "print(6 * 7)"}).value().stdout_text;
  } catch (const opensandbox::ErrorException& failure) {
    std::cerr << failure.what() << "\n";
    return 1;
  }
}
