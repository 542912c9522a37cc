// What the faults on a reply's body have in common: they stand between a body source and the executor.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_SOURCE_DECORATOR_H_
#define OPENSANDBOX_EMULATOR_FAULTS_SOURCE_DECORATOR_H_

#include <memory>
#include <string>
#include <utility>

#include "emulator/core/reply_plan.h"

namespace opensandbox::emulator {

// What a fault keeps of a stream in memory: larger events, or more of them, are let through as they are.
inline constexpr std::size_t kHeldBytesMax = 64 << 20;

// Passes everything on; subclasses override Next().
class SourceDecorator : public BodySource {
 public:
  explicit SourceDecorator(std::unique_ptr<BodySource> inner) : inner_(std::move(inner)) {}
  void BindWaker(std::shared_ptr<Waker> waker) override { inner_->BindWaker(std::move(waker)); }
  BodyStep Next(TimePoint now, WallTime wall_now) override { return inner_->Next(now, wall_now); }
  void ClientClosed(TimePoint now) override { inner_->ClientClosed(now); }

 private:
  std::unique_ptr<BodySource> inner_;
};

// The first `size` bytes of a step of bytes; they stay in it what they were, but what follows belongs to the same
// event.
inline BodyStep TakeFront(BodyStep* step, std::size_t size) {
  BodyStep front = *step;
  front.bytes.resize(size);
  front.ends_event = false;
  step->bytes.erase(0, size);
  step->begins_event = false;
  return front;
}

// A body that stands in the plan, as a source of one piece.
class FixedSource : public BodySource {
 public:
  FixedSource(std::string body, Ending ending) : body_(std::move(body)), ending_(ending) {}
  BodyStep Next(TimePoint, WallTime) override {
    if (body_.empty()) return BodyStep::End(ending_);
    return BodyStep::Bytes(std::exchange(body_, {}));
  }

 private:
  std::string body_;
  const Ending ending_;
};

// Makes the plan's body a source, whatever it was.
inline void NeedSource(ReplyPlan* plan) {
  if (plan->source != nullptr) return;
  plan->source = std::make_unique<FixedSource>(std::exchange(plan->body, {}), plan->ending);
}

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_SOURCE_DECORATOR_H_
