#include "emulator/faults/drop_fault.h"

#include "emulator/faults/event_picker.h"
#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class DroppingSource : public SourceDecorator {
 public:
  DroppingSource(std::unique_ptr<BodySource> inner, const EventSelector& events, Acted acted)
      : SourceDecorator(std::move(inner)), picker_(events), acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kBytes || !picker_.Picks(step)) return step;
    SetActed(acted_);
    // Not a loop: an endless stream of dropped events must let the executor see that the client has gone.
    return BodyStep::Wait(now);
  }

 private:
  EventPicker picker_;
  const Acted acted_;
};

}  // namespace

ReplyPlan ApplyDrop(const EventSelector& events, ReplyPlan plan, Acted acted) {
  if (plan.source == nullptr) return plan;
  plan.source = std::make_unique<DroppingSource>(std::move(plan.source), events, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
