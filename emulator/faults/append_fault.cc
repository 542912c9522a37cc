#include "emulator/faults/append_fault.h"

#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class AppendingSource : public SourceDecorator {
 public:
  AppendingSource(std::unique_ptr<BodySource> inner, std::string text)
      : SourceDecorator(std::move(inner)), text_(std::move(text)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (end_) return *std::move(end_);
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kEnd) return step;
    end_ = std::move(step);
    BodyStep more = BodyStep::Bytes(std::move(text_));
    more.begins_event = more.ends_event = false;
    return more;
  }

 private:
  std::string text_;
  std::optional<BodyStep> end_;
};

}  // namespace

ReplyPlan ApplyAppend(const std::string& text, ReplyPlan plan) {
  if (plan.source != nullptr) {
    plan.source = std::make_unique<AppendingSource>(std::move(plan.source), text);
  } else {
    plan.SetBody(plan.body + text);
  }
  return plan;
}

}  // namespace opensandbox::emulator
