#include "emulator/faults/stall_fault.h"

#include <optional>

#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class StallingSource : public SourceDecorator {
 public:
  StallingSource(std::unique_ptr<BodySource> inner, const StallFault& stall, Duration time, Acted acted)
      : SourceDecorator(std::move(inner)),
        events_before_(stall.at_event.value_or(0)),
        bytes_left_(stall.at_byte.value_or(0)),
        time_(time),
        acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (!resume_at_ && events_done_ >= events_before_ && bytes_left_ == 0) {
      resume_at_ = now + time_;
      SetActed(acted_);
    }
    if (resume_at_ && now < *resume_at_) return BodyStep::Wait(*resume_at_);
    if (rest_) {
      BodyStep step = *std::move(rest_);
      rest_.reset();
      return step;
    }
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kBytes || resume_at_) return step;
    if (events_done_ < events_before_) {
      if (step.ends_event) ++events_done_;
      return step;
    }
    if (bytes_left_ >= step.bytes.size()) {
      bytes_left_ -= step.bytes.size();
      return step;
    }
    BodyStep front = TakeFront(&step, static_cast<std::size_t>(bytes_left_));
    bytes_left_ = 0;
    rest_ = std::move(step);
    return front;
  }

 private:
  const std::uint64_t events_before_;
  std::uint64_t bytes_left_;
  const Duration time_;
  const Acted acted_;
  std::uint64_t events_done_ = 0;
  std::optional<TimePoint> resume_at_;
  std::optional<BodyStep> rest_;
};

}  // namespace

ReplyPlan ApplyStall(const StallFault& stall, Duration time, ReplyPlan plan, Acted acted) {
  NeedSource(&plan);
  plan.source = std::make_unique<StallingSource>(std::move(plan.source), stall, time, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
