#include "emulator/faults/reorder_fault.h"

#include <deque>
#include <optional>

#include "emulator/faults/event_picker.h"
#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class ReorderingSource : public SourceDecorator {
 public:
  ReorderingSource(std::unique_ptr<BodySource> inner, const ReorderFault& reorder, Acted acted)
      : SourceDecorator(std::move(inner)),
        behind_(reorder.behind),
        picker_({.first = reorder.event, .last = reorder.event}),
        acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (released_ && !held_.empty()) {
      BodyStep step = std::move(held_.front());
      held_.pop_front();
      return step;
    }
    if (end_) return *end_;
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind == BodyStep::Kind::kEnd && !held_.empty()) {
      end_ = std::move(step);
      released_ = true;
      return BodyStep::Wait(now);
    }
    if (step.kind != BodyStep::Kind::kBytes) return step;
    if (picker_.Picks(step) && !released_) {
      held_bytes_ += step.bytes.size();
      if (held_bytes_ > kHeldBytesMax) released_ = true;
      held_.push_back(std::move(step));
      return BodyStep::Wait(now);
    }
    if (!released_ && step.ends_event && picker_.place() == behind_) {
      released_ = true;
      SetActed(acted_);
    }
    return step;
  }

 private:
  const std::uint64_t behind_;
  EventPicker picker_;
  const Acted acted_;
  std::deque<BodyStep> held_;
  std::size_t held_bytes_ = 0;
  bool released_ = false;
  std::optional<BodyStep> end_;
};

}  // namespace

ReplyPlan ApplyReorder(const ReorderFault& reorder, ReplyPlan plan, Acted acted) {
  if (plan.source == nullptr) return plan;
  plan.source = std::make_unique<ReorderingSource>(std::move(plan.source), reorder, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
