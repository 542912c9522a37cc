#include "emulator/faults/split_fault.h"

#include <algorithm>
#include <optional>

#include "emulator/faults/event_picker.h"
#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

class SplittingSource : public SourceDecorator {
 public:
  SplittingSource(std::unique_ptr<BodySource> inner, const SplitFault& split, Acted acted)
      : SourceDecorator(std::move(inner)), split_(split), picker_(split.events), acted_(std::move(acted)) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (rest_) {
      if (now < resume_at_) return BodyStep::Wait(resume_at_);
      return Piece(now);
    }
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kBytes || step.raw || !picker_.Picks(step)) return step;
    rest_ = std::move(step);
    first_ = true;
    return Piece(now);
  }

 private:
  // The bytes of the next piece; all that is left if there is nowhere to split.
  std::size_t PieceSize() const {
    const std::size_t size = rest_->bytes.size();
    if (split_.in_characters) {
      for (std::size_t i = 1; i < size; ++i) {
        if (IsContinuation(rest_->bytes[i])) return i;
      }
      return size;
    }
    if (split_.bytes) return static_cast<std::size_t>(std::min<std::uint64_t>(*split_.bytes, size));
    if (!first_) return size;
    if (split_.at_byte) return *split_.at_byte < size ? static_cast<std::size_t>(*split_.at_byte) : size;
    return *split_.from_end < size ? size - static_cast<std::size_t>(*split_.from_end) : size;
  }

  BodyStep Piece(TimePoint now) {
    const std::size_t size = PieceSize();
    first_ = false;
    if (size >= rest_->bytes.size()) {
      BodyStep last = *std::move(rest_);
      rest_.reset();
      return last;
    }
    SetActed(acted_);
    BodyStep front = TakeFront(&*rest_, size);
    front.flush = true;
    resume_at_ = now + split_.gap;
    return front;
  }

  const SplitFault split_;
  EventPicker picker_;
  const Acted acted_;
  std::optional<BodyStep> rest_;
  bool first_ = true;
  TimePoint resume_at_{};
};

}  // namespace

ReplyPlan ApplySplit(const SplitFault& split, ReplyPlan plan, Acted acted) {
  if (plan.source == nullptr) return plan;
  plan.source = std::make_unique<SplittingSource>(std::move(plan.source), split, std::move(acted));
  return plan;
}

}  // namespace opensandbox::emulator
