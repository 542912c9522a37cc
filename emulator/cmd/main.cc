#include <string>
#include <vector>

#include "emulator/cmd/app.h"

int main(int argc, char** argv) {
  using namespace opensandbox::emulator;  // NOLINT(google-build-using-namespace): this is the whole program
  return static_cast<int>(RunGuarded([&] { return RunApp(std::vector<std::string>(argv + 1, argv + argc)); }));
}
