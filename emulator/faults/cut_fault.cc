#include "emulator/faults/cut_fault.h"

#include <algorithm>
#include <cstdio>

#include "emulator/faults/source_decorator.h"

namespace opensandbox::emulator {
namespace {

// What is sent of a chunk that breaks off.
std::string BrokenChunk(const std::string& bytes, CutFault::Framing framing, std::optional<std::uint64_t> at_byte) {
  char digits[20];
  const int count = std::snprintf(digits, sizeof(digits), "%zx", bytes.size());
  const std::string size(digits, static_cast<std::size_t>(count));
  if (framing == CutFault::Framing::kSize) return size.substr(0, std::max<std::size_t>(1, size.size() / 2));
  if (framing == CutFault::Framing::kCrlf) return size + "\r\n" + bytes;
  const std::uint64_t part = at_byte.value_or(bytes.size() / 2);
  return size + "\r\n" + bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(part, bytes.size() - 1)));
}

// Ends the stream after `at_event` whole events and `at_byte` bytes of the next one (or all of it, if it is shorter),
// or, with in_character, after the first byte of the first longer character behind those events.
class CuttingSource : public SourceDecorator {
 public:
  CuttingSource(std::unique_ptr<BodySource> inner, const CutFault& cut)
      : SourceDecorator(std::move(inner)),
        events_before_(*cut.at_event),
        bytes_of_next_(cut.at_byte.value_or(0)),
        at_byte_(cut.at_byte),
        in_character_(cut.in_character),
        framing_(cut.framing),
        how_(cut.how) {}

  BodyStep Next(TimePoint now, WallTime wall_now) override {
    if (IsThere()) over_ = true;
    if (over_) return BodyStep::End(how_);
    BodyStep step = SourceDecorator::Next(now, wall_now);
    if (step.kind != BodyStep::Kind::kBytes) return step;
    if (events_done_ < events_before_) {
      if (step.ends_event) ++events_done_;
      return step;
    }
    if (framing_ != CutFault::Framing::kWhole) {
      step.bytes = BrokenChunk(step.bytes, framing_, at_byte_);
      step.raw = over_ = true;
      return step;
    }
    if (in_character_) {
      const auto longer = std::find_if(step.bytes.begin(), step.bytes.end(),
                                       [](char c) { return static_cast<unsigned char>(c) >= 0xC0; });
      if (longer != step.bytes.end()) Truncate(&step, static_cast<std::size_t>(longer - step.bytes.begin()) + 1);
      return step;
    }
    const std::uint64_t left = bytes_of_next_ - bytes_done_;
    bytes_done_ += step.bytes.size();
    if (step.bytes.size() >= left) {
      Truncate(&step, static_cast<std::size_t>(left));
    } else if (step.ends_event) {
      over_ = true;
    }
    return step;
  }

 private:
  bool IsThere() const {
    return events_done_ >= events_before_ && !in_character_ && framing_ == CutFault::Framing::kWhole &&
           bytes_of_next_ == 0;
  }
  void Truncate(BodyStep* step, std::size_t size) {
    step->bytes.resize(size);
    over_ = true;
  }

  const std::uint64_t events_before_;
  const std::uint64_t bytes_of_next_;
  const std::optional<std::uint64_t> at_byte_;
  const bool in_character_;
  const CutFault::Framing framing_;
  const Ending how_;
  std::uint64_t events_done_ = 0;
  std::uint64_t bytes_done_ = 0;  // of the events behind
  bool over_ = false;
};

}  // namespace

ReplyPlan ApplyCut(const CutFault& cut, ReplyPlan plan) {
  if (cut.at_event) {
    if (plan.source != nullptr) plan.source = std::make_unique<CuttingSource>(std::move(plan.source), cut);
    return plan;
  }
  Cut place;
  place.ending = cut.how;
  if (cut.before_headers) {
    place.at = Cut::At::kBeforeHead;
  } else if (cut.after_headers) {
    place.at = Cut::At::kAfterHead;
  } else {
    place.at = Cut::At::kBodyByte;
    place.bytes = cut.at_byte.value_or(0);
  }
  plan.cut = place;
  return plan;
}

}  // namespace opensandbox::emulator
