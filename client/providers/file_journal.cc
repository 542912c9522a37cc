#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "opensandbox/base/rfc3339.h"
#include "opensandbox/providers/sandbox_journal.h"

namespace opensandbox {
namespace {

using Json = nlohmann::ordered_json;

// A file with so many lines of the past is written anew.
constexpr std::size_t kLinesMax = 1024;
constexpr mode_t kOnlyOwner = 0600;

Error FileError(const std::string& path, const std::string& what) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.operation = "journal";
  error.message = "The journal " + path + " " + what + ": " + std::generic_category().message(errno);
  return error;
}

std::string StringOf(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string EntryLine(const JournalEntry& entry) {
  Json json = {{"event", entry.abandoned ? "abandoned" : "create"},
               {"provider", entry.provider},
               {"api_base", entry.api_base},
               {"create_tag", entry.create_tag},
               {"sandbox_id", entry.sandbox_id},
               {"since", FormatRfc3339(entry.since, 3)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

template <typename Condition>
void EraseIf(std::vector<JournalEntry>& entries, Condition condition) {
  entries.erase(std::remove_if(entries.begin(), entries.end(), condition), entries.end());
}

void SetId(std::vector<JournalEntry>& entries, const std::string& tag, const std::string& id) {
  for (JournalEntry& entry : entries) {
    if (entry.create_tag == tag && entry.sandbox_id.empty()) entry.sandbox_id = id;
  }
}

// By id, else by tag; added if there is no such entry.
void Abandon(std::vector<JournalEntry>& entries, JournalEntry abandoned) {
  abandoned.abandoned = true;
  for (JournalEntry& entry : entries) {
    const bool same = abandoned.sandbox_id.empty() || entry.sandbox_id.empty()
                          ? !abandoned.create_tag.empty() && entry.create_tag == abandoned.create_tag
                          : entry.provider == abandoned.provider && entry.sandbox_id == abandoned.sandbox_id;
    if (!same) continue;
    entry.abandoned = true;
    if (!abandoned.sandbox_id.empty()) entry.sandbox_id = abandoned.sandbox_id;
    return;
  }
  entries.push_back(std::move(abandoned));
}

void Apply(const Json& line, std::vector<JournalEntry>& entries) {
  const std::string event = StringOf(line, "event");
  JournalEntry entry{StringOf(line, "provider"),
                     StringOf(line, "api_base"),
                     StringOf(line, "create_tag"),
                     StringOf(line, "sandbox_id"),
                     {},
                     false};
  entry.since = ParseRfc3339(StringOf(line, "since")).value_or(WallTime{});
  if (event == "create") entries.push_back(std::move(entry));
  if (event == "created") SetId(entries, entry.create_tag, entry.sandbox_id);
  if (event == "abandoned") Abandon(entries, std::move(entry));
  if (event == "not_created") EraseIf(entries, [&](const JournalEntry& e) { return e.create_tag == entry.create_tag; });
  if (event == "deleted") {
    EraseIf(entries,
            [&](const JournalEntry& e) { return e.provider == entry.provider && e.sandbox_id == entry.sandbox_id; });
  }
}

}  // namespace

Result<std::unique_ptr<FileJournal>> FileJournal::Open(const std::string& path, Clock* clock) {
  std::unique_ptr<FileJournal> journal(new FileJournal(path, clock != nullptr ? *clock : SystemClock::Instance()));
  const std::string lock_path = path + ".lock";
  journal->lock_fd_ = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOnlyOwner);
  if (journal->lock_fd_ < 0) return FileError(path, "can't be locked");
  if (::flock(journal->lock_fd_, LOCK_EX | LOCK_NB) != 0) return FileError(path, "is in use by another process");
  if (Result<void> loaded = journal->Load(); !loaded) return loaded.error();
  if (Result<void> compacted = journal->Compact(); !compacted) return compacted.error();
  return journal;
}

FileJournal::~FileJournal() {
  if (fd_ >= 0) ::close(fd_);
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<void> FileJournal::Load() {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? Result<void>() : FileError(path_, "can't be read");
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const Error error = FileError(path_, "can't be read");
      ::close(fd);
      return error;
    }
    if (got == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(fd);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (line.is_object()) Apply(line, entries_);
    begin = end + 1;
  }
  // Whoever made them is not there any more.
  for (JournalEntry& entry : entries_) entry.abandoned = true;
  return {};
}

Result<void> FileJournal::Compact() {
  const std::string new_path = path_ + ".new";
  const int fd = ::open(new_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, kOnlyOwner);
  if (fd < 0) return FileError(path_, "can't be written");
  std::string text;
  for (const JournalEntry& entry : entries_) text += EntryLine(entry) + "\n";
  if (!WriteAll(fd, text) || ::fdatasync(fd) != 0 || std::rename(new_path.c_str(), path_.c_str()) != 0) {
    const Error error = FileError(path_, "can't be written");
    ::close(fd);
    return error;
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  lines_count_ = entries_.size();
  return {};
}

Result<void> FileJournal::Append(const std::string& line) {
  if (lines_count_ >= kLinesMax && lines_count_ >= 2 * entries_.size()) return Compact();
  if (!WriteAll(fd_, line + "\n") || ::fdatasync(fd_) != 0) return FileError(path_, "can't be written");
  ++lines_count_;
  return {};
}

std::vector<JournalEntry> FileJournal::Entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

Result<void> FileJournal::WillCreate(const JournalEntry& entry) {
  const std::lock_guard lock(mutex_);
  entries_.push_back(entry);
  entries_.back().since = clock_.WallNow();
  Result<void> written = Append(EntryLine(entries_.back()));
  if (!written) entries_.pop_back();
  return written;
}

// The lines below make a later sweep's work shorter; without them it finds out by itself. So a failure to write them is
// no failure of the call.

void FileJournal::Created(const std::string& create_tag, const std::string& sandbox_id) {
  const std::lock_guard lock(mutex_);
  SetId(entries_, create_tag, sandbox_id);
  (void)Append(Json{{"event", "created"}, {"create_tag", create_tag}, {"sandbox_id", sandbox_id}}.dump());
}

void FileJournal::NotCreated(const std::string& create_tag) {
  const std::lock_guard lock(mutex_);
  EraseIf(entries_, [&](const JournalEntry& entry) { return entry.create_tag == create_tag; });
  (void)Append(Json{{"event", "not_created"}, {"create_tag", create_tag}}.dump());
}

void FileJournal::Abandoned(const JournalEntry& entry) {
  const std::lock_guard lock(mutex_);
  JournalEntry abandoned = entry;
  abandoned.abandoned = true;
  if (abandoned.since == WallTime{}) abandoned.since = clock_.WallNow();
  Abandon(entries_, abandoned);
  (void)Append(EntryLine(abandoned));
}

void FileJournal::Deleted(const std::string& provider, const std::string& sandbox_id) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = entries_.size();
  EraseIf(entries_,
          [&](const JournalEntry& entry) { return entry.provider == provider && entry.sandbox_id == sandbox_id; });
  if (entries_.size() == before) return;
  (void)Append(Json{{"event", "deleted"}, {"provider", provider}, {"sandbox_id", sandbox_id}}.dump());
}

}  // namespace opensandbox
