#include "emulator/faults/duplicate_fault.h"

#include <vector>

#include "emulator/faults/event_picker.h"
#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class DuplicatingSource : public SourceDecorator {
 public:
  DuplicatingSource(std::unique_ptr<BodySource> inner, const DuplicateFault& duplicate, Acted acted)
      : SourceDecorator(std::move(inner)),
        times_(duplicate.times),
        picker_(duplicate.events),
        acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (copies_left_ > 0) {
      BodyStep step = event_[next_++];
      if (next_ == event_.size()) {
        next_ = 0;
        if (--copies_left_ == 0) event_.clear();
      }
      return step;
    }
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kBytes || !picker_.Picks(step)) return step;
    if (step.begins_event) {
      event_.clear();
      held_ = 0;
    }
    held_ += step.bytes.size();
    if (held_ > kHeldBytesMax) {
      event_.clear();
      return step;
    }
    event_.push_back(step);
    if (step.ends_event) {
      copies_left_ = times_;
      SetActed(acted_);
    }
    return step;
  }

 private:
  const std::uint64_t times_;
  EventPicker picker_;
  const Acted acted_;
  std::vector<BodyStep> event_;
  std::size_t held_ = 0;
  std::size_t next_ = 0;
  std::uint64_t copies_left_ = 0;
};

}  // namespace

ReplyPlan ApplyDuplicate(const DuplicateFault& duplicate, ReplyPlan plan, Acted acted) {
  if (plan.source == nullptr) return plan;
  plan.source = std::make_unique<DuplicatingSource>(std::move(plan.source), duplicate, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
