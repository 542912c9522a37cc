// Every request and its reply, in bounded memory.
#ifndef OPENSANDBOX_EMULATOR_CORE_JOURNAL_H_
#define OPENSANDBOX_EMULATOR_CORE_JOURNAL_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "emulator/core/reply_plan.h"

namespace opensandbox::emulator {

struct JournalEntry {
  std::uint64_t number = 0;  // of the request within the tenant, from 1
  std::uint64_t connection = 0;
  std::string operation;  // operation::k...
  std::string method, target;
  std::string sandbox_id;  // the one it names or created
  std::string request_id;
  TimePoint received{};
  std::vector<std::string> rules;  // ids of the scenario rules that acted on it
  bool committed = true;           // it took effect although the reply may say otherwise
  std::string near_miss;           // for an unmatched execution: the closest rule and the first difference
  std::uint64_t request_body_bytes = 0;
  // Filled when the exchange ends; absent while it is open.
  std::optional<ExchangeEnd> end;
};

// Not thread-safe: its tenant's lock guards it. Keeps the newest `entries_max`; counts stay right for ever.
class Journal {
 public:
  explicit Journal(std::size_t entries_max = 10000) : entries_max_(entries_max) {}
  // Returns the number. `entry.number` is set.
  std::uint64_t Begin(JournalEntry entry);
  // Null if it was never begun or is no longer kept.
  JournalEntry* Find(std::uint64_t number);
  // Once for each number; one that is no longer kept only counts.
  void Finish(std::uint64_t number, const ExchangeEnd& end);
  const std::deque<JournalEntry>& entries() const { return entries_; }
  std::uint64_t total() const { return total_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t open_count() const { return open_count_; }

 private:
  std::size_t entries_max_;
  std::deque<JournalEntry> entries_;
  std::uint64_t total_ = 0, dropped_ = 0, open_count_ = 0;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_JOURNAL_H_
