#include <cstdio>
#include <cstdlib>
#include <utility>

#include "emulator/service/emulator.h"
#include "subjects.h"

namespace opensandbox::bench {
namespace {

class WholeEmulator : public Subject {
 public:
  explicit WholeEmulator(std::unique_ptr<emulator::Emulator> emulator) : emulator_(std::move(emulator)) {}
  int port() const override {
    const std::string address = emulator_->address();
    return std::atoi(address.c_str() + address.rfind(':') + 1);
  }

 private:
  std::unique_ptr<emulator::Emulator> emulator_;
};

}  // namespace

std::unique_ptr<Subject> StartEmulator() {
  auto started = emulator::Emulator::Start({});
  if (!started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    std::exit(1);
  }
  return std::make_unique<WholeEmulator>(*std::move(started));
}

}  // namespace opensandbox::bench
