#include "emulator/core/journal.h"

#include <utility>

namespace opensandbox::emulator {

std::uint64_t Journal::Begin(JournalEntry entry) {
  entry.number = ++total_;
  ++open_count_;
  entries_.push_back(std::move(entry));
  while (entries_.size() > entries_max_) {
    entries_.pop_front();
    ++dropped_;
  }
  return total_;
}

JournalEntry* Journal::Find(std::uint64_t number) {
  // Numbers are consecutive, so the place follows from the number.
  if (number <= dropped_ || number > total_) return nullptr;
  return &entries_[static_cast<std::size_t>(number - dropped_ - 1)];
}

void Journal::Finish(std::uint64_t number, const ExchangeEnd& end) {
  if (number == 0 || number > total_) return;
  if (JournalEntry* entry = Find(number)) {
    if (entry->end.has_value()) return;
    entry->end = end;
  }
  --open_count_;
}

}  // namespace opensandbox::emulator
