#include "emulator/faults/insert_fault.h"

#include <optional>
#include <string>

#include "emulator/faults/event_picker.h"
#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

class InsertingSource : public SourceDecorator {
 public:
  InsertingSource(std::unique_ptr<BodySource> inner, const InsertFault& insert, Acted acted)
      : SourceDecorator(std::move(inner)),
        bytes_(insert.bytes),
        unframed_(insert.unframed),
        picker_(insert.events),
        acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (next_) {
      BodyStep step = *std::move(next_);
      next_.reset();
      return step;
    }
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kBytes || !picker_.Picks(step) || !step.begins_event) return step;
    SetActed(acted_);
    next_ = std::move(step);
    BodyStep inserted = BodyStep::Bytes(bytes_);
    inserted.begins_event = inserted.ends_event = false;
    inserted.raw = unframed_;
    return inserted;
  }

 private:
  const std::string bytes_;
  const bool unframed_;
  EventPicker picker_;
  const Acted acted_;
  std::optional<BodyStep> next_;
};

}  // namespace

ReplyPlan ApplyInsert(const InsertFault& insert, ReplyPlan plan, Acted acted) {
  if (plan.source == nullptr) return plan;
  plan.source = std::make_unique<InsertingSource>(std::move(plan.source), insert, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
