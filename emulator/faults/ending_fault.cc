#include "emulator/faults/ending_fault.h"

#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class EndingSource : public SourceDecorator {
 public:
  EndingSource(std::unique_ptr<BodySource> inner, Ending ending) : SourceDecorator(std::move(inner)), ending_(ending) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind == BodyStep::Kind::kEnd) step.ending = ending_;
    return step;
  }

 private:
  Ending ending_;
};

}  // namespace

ReplyPlan ApplyEnding(Ending ending, ReplyPlan plan) {
  plan.ending = ending;
  if (plan.source != nullptr) plan.source = std::make_unique<EndingSource>(std::move(plan.source), ending);
  return plan;
}

}  // namespace opensandbox::emulator
