#include "emulator/faults/event_picker.h"

#include "emulator/scenario/engine.h"

namespace opensandbox::emulator {

bool EventPicker::Picks(const BodyStep& step) {
  if (step.begins_event) {
    ++place_;
    inside_ = true;
    picked_ = place_ >= selector_.first && place_ <= selector_.last &&
              (place_ - selector_.first) % selector_.every == 0 &&
              (!selector_.match || Matches(*selector_.match, step.bytes));
  } else if (!inside_) {
    return false;
  }
  if (step.ends_event) inside_ = false;
  return picked_;
}

}  // namespace opensandbox::emulator
