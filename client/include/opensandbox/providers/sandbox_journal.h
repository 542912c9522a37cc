// What this process has created and not yet deleted, written down so that a later process can clean up after a crash.
#ifndef OPENSANDBOX_PROVIDERS_SANDBOX_JOURNAL_H_
#define OPENSANDBOX_PROVIDERS_SANDBOX_JOURNAL_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "opensandbox/base/clock.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

struct JournalEntry {
  std::string provider{};
  std::string api_base{};
  std::string create_tag{};  // the value of kCreateTagKey in the sandbox's metadata
  std::string sandbox_id{};  // empty: the create has not been answered yet
  WallTime since{};          // when the create was about to be sent
  // Nobody uses it any more, and it may be alive: its process has ended, or its delete failed.
  bool abandoned = false;
};

// Told by providers (their option `journal`) at each step. Thread-safe.
class SandboxJournal {
 public:
  virtual ~SandboxJournal() = default;
  // Before a create is sent; on disk when it returns. A failure stops the create.
  virtual Result<void> WillCreate(const JournalEntry& entry) = 0;
  // Its id is known.
  virtual void Created(const std::string& create_tag, const std::string& sandbox_id) = 0;
  // The create certainly left nothing alive.
  virtual void NotCreated(const std::string& create_tag) = 0;
  // It may be alive, and nobody will delete it but a sweep. Found by id, else by tag; added if there is no such entry.
  virtual void Abandoned(const JournalEntry& entry) = 0;
  // A delete was confirmed.
  virtual void Deleted(const std::string& provider, const std::string& sandbox_id) = 0;
};

// A file of JSON lines, each appended and flushed to disk. One process at a time has it open (a lock file beside it).
// Whoever opens it finds the entries of earlier processes abandoned. A line that a crash has cut is ignored.
class FileJournal : public SandboxJournal {
 public:
  // kInvalidArgument, with the path and the reason: it can't be opened, or another process has it.
  // `clock` gives the time of entries; null: real time.
  static Result<std::unique_ptr<FileJournal>> Open(const std::string& path, Clock* clock = nullptr);
  ~FileJournal() override;

  std::vector<JournalEntry> Entries() const;

  Result<void> WillCreate(const JournalEntry& entry) override;
  void Created(const std::string& create_tag, const std::string& sandbox_id) override;
  void NotCreated(const std::string& create_tag) override;
  void Abandoned(const JournalEntry& entry) override;
  void Deleted(const std::string& provider, const std::string& sandbox_id) override;

 private:
  FileJournal(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {}
  Result<void> Load();
  // Writes what is open into a new file that takes the old one's place.
  Result<void> Compact();
  Result<void> Append(const std::string& line);

  const std::string path_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<JournalEntry> entries_;
  int lock_fd_ = -1;
  int fd_ = -1;
  std::size_t lines_count_ = 0;
};

// An ability that a provider may have: finding what a create left behind. Both providers of this library can.
class CreateTagLookUp {
 public:
  virtual ~CreateTagLookUp() = default;
  // Ids of the live sandboxes with that tag. An error: the list could not be read in full.
  virtual Result<std::vector<std::string>> FindByCreateTag(const std::string& create_tag,
                                                           const std::optional<std::string>& api_base,
                                                           std::stop_token stop) = 0;
};

struct SweepReport {
  std::vector<JournalEntry> deleted{};  // sandboxes that were alive
  std::vector<JournalEntry> gone{};     // found to be gone already, or never made
  std::vector<JournalEntry> left{};     // kept for the next sweep
  std::vector<Error> errors{};          // why, one for each of the failures among `left`
};

// Deletes the abandoned sandboxes of `provider` (by its name) that the journal holds: those with an id by it, the
// others by their tag. An entry without id whose tag finds nothing is kept until it is `lost_create_patience` old,
// because a server may commit a create late. At start-up: sweep before anything is created. Later: SandboxSweeper.
SweepReport SweepJournal(FileJournal& journal, SandboxProvider& provider, Clock& clock,
                         Duration lost_create_patience = std::chrono::minutes(10), std::stop_token stop = {});

// Sweeps now and then every `interval`, on a thread of its own, until it is destroyed.
class SandboxSweeper {
 public:
  struct Options {
    Duration interval = std::chrono::minutes(5);
    Duration lost_create_patience = std::chrono::minutes(10);
    Clock* clock = nullptr;                               // null: real time
    std::function<void(const SweepReport&)> on_report{};  // called on the thread
  };
  // Both must outlive the sweeper.
  SandboxSweeper(FileJournal& journal, SandboxProvider& provider, Options options);
  ~SandboxSweeper();
  SandboxSweeper(const SandboxSweeper&) = delete;
  SandboxSweeper& operator=(const SandboxSweeper&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_SANDBOX_JOURNAL_H_
