// Plans to apply faults to, and what becomes of them.
#ifndef OPENSANDBOX_TESTS_UNIT_FAULTS_FAULT_PLAN_H_
#define OPENSANDBOX_TESTS_UNIT_FAULTS_FAULT_PLAN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/core/reply_plan.h"

namespace opensandbox::emulator {

// Plays the given steps, then says kEnd for ever.
class ListedSource : public BodySource {
 public:
  explicit ListedSource(std::vector<BodyStep> steps) : steps_(std::move(steps)) {}
  void BindWaker(std::shared_ptr<Waker> waker) override { bound_ = bound_ || waker == nullptr; }
  BodyStep Next(TimePoint, WallTime) override {
    if (index_ < steps_.size()) return steps_[index_++];
    return BodyStep::End();
  }
  void ClientClosed(TimePoint) override { ++closed_; }

  bool bound_ = false;
  int closed_ = 0;

 private:
  std::vector<BodyStep> steps_;
  std::size_t index_ = 0;
};

inline ReplyPlan StreamOf(std::vector<BodyStep> steps) {
  ReplyPlan plan;
  plan.chunked = true;
  plan.source = std::make_unique<ListedSource>(std::move(steps));
  return plan;
}

inline ReplyPlan StreamOfTexts(const std::vector<std::string>& events) {
  std::vector<BodyStep> steps;
  for (const std::string& event : events) steps.push_back(BodyStep::Bytes(event));
  return StreamOf(std::move(steps));
}

inline BodyStep Part(std::string bytes, bool begins, bool ends) {
  BodyStep step = BodyStep::Bytes(std::move(bytes));
  step.begins_event = begins;
  step.ends_event = ends;
  return step;
}

inline ReplyPlan FixedOf(const std::string& body) {
  ReplyPlan plan;
  plan.headers = {{"content-length", std::to_string(body.size())}};
  plan.body = body;
  return plan;
}

// "one|two|<fin>": the pieces that a source gives, "~" for a wait, and its end; asked once more behind the end.
inline std::string Played(ReplyPlan& plan) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const BodyStep step = plan.source->Next(TimePoint{}, WallTime{});
    if (step.kind == BodyStep::Kind::kBytes) {
      text += step.bytes + "|";
    } else if (step.kind == BodyStep::Kind::kWait) {
      text += "~|";
    } else {
      const BodyStep again = plan.source->Next(TimePoint{}, WallTime{});
      if (again.kind != BodyStep::Kind::kEnd || again.ending != step.ending) return text + "end that is no end";
      return text + "<" + std::string(ToString(step.ending)) + ">";
    }
  }
  return text + "...";
}

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_FAULTS_FAULT_PLAN_H_
