// Finds the events that a fault was told to act on.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_EVENT_PICKER_H_
#define OPENSANDBOX_EMULATOR_FAULTS_EVENT_PICKER_H_

#include <cstdint>

#include "emulator/scenario/fault_rule.h"

namespace opensandbox::emulator {

// Shown every kBytes step of a stream, in order.
class EventPicker {
 public:
  explicit EventPicker(EventSelector selector) : selector_(std::move(selector)) {}
  // Whether the step belongs to a selected event. Bytes outside of any event never do.
  bool Picks(const BodyStep& step);
  // The place of the event that the last step belonged to, from 1.
  std::uint64_t place() const { return place_; }
  // That step ended the last event that can be selected.
  bool was_last() const { return !inside_ && place_ >= selector_.last; }

 private:
  const EventSelector selector_;
  std::uint64_t place_ = 0;
  bool inside_ = false;
  bool picked_ = false;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_EVENT_PICKER_H_
