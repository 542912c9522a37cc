#include "emulator/faults/throttle_fault.h"

#include <algorithm>
#include <optional>

#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class ThrottledSource : public SourceDecorator {
 public:
  ThrottledSource(std::unique_ptr<BodySource> inner, const ThrottleFault& throttle)
      : SourceDecorator(std::move(inner)), throttle_(throttle) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (!interval_end_ || now >= *interval_end_) {
      // Intervals follow each other without a gap, however late somebody asks.
      const TimePoint begin =
          interval_end_ ? *interval_end_ + (now - *interval_end_) / throttle_.every * throttle_.every : now;
      interval_end_ = begin + throttle_.every;
      used_ = 0;
    }
    const std::uint64_t limit = throttle_.bytes ? *throttle_.bytes : *throttle_.events;
    if (used_ >= limit) return BodyStep::Wait(*interval_end_);
    BodyStep step;
    if (rest_) {
      step = *std::move(rest_);
      rest_.reset();
    } else {
      step = SourceDecorator::Next(now, wall_now);
    }
    if (step.kind != BodyStep::Kind::kBytes) return step;
    if (throttle_.events) {
      if (step.ends_event) ++used_;
      return step;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(limit - used_, step.bytes.size()));
    used_ += size;
    if (size == step.bytes.size()) return step;
    BodyStep front = TakeFront(&step, size);
    rest_ = std::move(step);
    return front;
  }

 private:
  const ThrottleFault throttle_;
  std::optional<TimePoint> interval_end_;
  std::uint64_t used_ = 0;
  std::optional<BodyStep> rest_;
};

}  // namespace

ReplyPlan ApplyThrottle(const ThrottleFault& throttle, ReplyPlan plan) {
  NeedSource(&plan);
  plan.source = std::make_unique<ThrottledSource>(std::move(plan.source), throttle);
  return plan;
}

}  // namespace opensandbox::emulator
