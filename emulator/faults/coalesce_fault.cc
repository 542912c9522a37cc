#include "emulator/faults/coalesce_fault.h"

#include <algorithm>
#include <optional>
#include <string>

#include "emulator/faults/event_picker.h"
#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class CoalescingSource : public SourceDecorator {
 public:
  CoalescingSource(std::unique_ptr<BodySource> inner, const CoalesceFault& coalesce, Acted acted)
      : SourceDecorator(std::move(inner)),
        bytes_max_(
            static_cast<std::size_t>(std::min<std::uint64_t>(coalesce.bytes.value_or(kHeldBytesMax), kHeldBytesMax))),
        picker_(coalesce.events),
        acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (behind_) {
      BodyStep step = *behind_;
      if (step.kind != BodyStep::Kind::kEnd) behind_.reset();
      return step;
    }
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind == BodyStep::Kind::kWait) return step;
    if (step.kind == BodyStep::Kind::kBytes) {
      const bool picked = picker_.Picks(step);
      if (picked && !step.raw) {
        if (!held_.empty()) SetActed(acted_);
        held_ += step.bytes;
        const bool complete = (step.ends_event && picker_.was_last()) || held_.size() >= bytes_max_;
        return complete ? Release() : BodyStep::Wait(now);
      }
    }
    if (held_.empty()) return step;
    const bool end = step.kind == BodyStep::Kind::kEnd;
    if (end) SetActed(acted_);
    behind_ = std::move(step);
    BodyStep released = Release();
    released.flush = !end;
    return released;
  }

 private:
  BodyStep Release() { return BodyStep::Bytes(std::exchange(held_, {})); }

  const std::size_t bytes_max_;
  EventPicker picker_;
  const Acted acted_;
  std::string held_;
  std::optional<BodyStep> behind_;
};

}  // namespace

ReplyPlan ApplyCoalesce(const CoalesceFault& coalesce, ReplyPlan plan, Acted acted) {
  if (plan.source == nullptr) return plan;
  plan.source = std::make_unique<CoalescingSource>(std::move(plan.source), coalesce, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
