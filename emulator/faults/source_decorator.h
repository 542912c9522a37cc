// What the faults on a reply's body have in common: they stand between a body source and the executor.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_SOURCE_DECORATOR_H_
#define OPENSANDBOX_EMULATOR_FAULTS_SOURCE_DECORATOR_H_

#include <memory>
#include <utility>

#include "emulator/core/reply_plan.h"

namespace opensandbox::emulator {

// Passes everything on; subclasses override Next().
class SourceDecorator : public BodySource {
 public:
  explicit SourceDecorator(std::unique_ptr<BodySource> inner) : inner_(std::move(inner)) {}
  void BindWaker(std::shared_ptr<Waker> waker) override { inner_->BindWaker(std::move(waker)); }
  BodyStep Next(TimePoint now, WallTime wall_now) override { return inner_->Next(now, wall_now); }
  void ClientClosed(TimePoint now) override { inner_->ClientClosed(now); }

 private:
  std::unique_ptr<BodySource> inner_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_SOURCE_DECORATOR_H_
