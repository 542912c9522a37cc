#include <thread>
#include <utility>

#include "client/providers/lifecycle_calls.h"
#include "opensandbox/providers/sandbox_journal.h"

namespace opensandbox {
namespace {

enum class Fate { kDeleted, kGone, kLeft };

Fate DeleteById(SandboxProvider& provider, const JournalEntry& entry, const std::string& id, std::stop_token stop,
                std::vector<Error>& errors) {
  DeleteSandboxRequest request;
  if (!entry.api_base.empty()) request.api_base = entry.api_base;
  request.report_leak = false;  // the report tells
  request.stop = std::move(stop);
  Result<bool> deleted = provider.DeleteSandbox(id, request);
  if (deleted) return *deleted ? Fate::kDeleted : Fate::kGone;
  errors.push_back(std::move(deleted).error());
  return Fate::kLeft;
}

}  // namespace

SweepReport SweepJournal(FileJournal& journal, SandboxProvider& provider, Clock& clock, Duration lost_create_patience,
                         std::stop_token stop) {
  SweepReport report;
  for (JournalEntry& entry : journal.Entries()) {
    if (!entry.abandoned || entry.provider != provider.name()) continue;
    if (stop.stop_requested()) {
      report.left.push_back(std::move(entry));
      continue;
    }
    if (!entry.sandbox_id.empty()) {
      const Fate fate = DeleteById(provider, entry, entry.sandbox_id, stop, report.errors);
      if (fate != Fate::kLeft) journal.Deleted(entry.provider, entry.sandbox_id);
      (fate == Fate::kDeleted ? report.deleted
       : fate == Fate::kGone  ? report.gone
                              : report.left)
          .push_back(std::move(entry));
      continue;
    }
    auto* look_up = dynamic_cast<CreateTagLookUp*>(&provider);
    if (look_up == nullptr) {
      report.left.push_back(std::move(entry));
      continue;
    }
    std::optional<std::string> api_base;
    if (!entry.api_base.empty()) api_base = entry.api_base;
    Result<std::vector<std::string>> found = look_up->FindByCreateTag(entry.create_tag, api_base, stop);
    if (!found) {
      report.errors.push_back(std::move(found).error());
      report.left.push_back(std::move(entry));
      continue;
    }
    bool left = false;
    for (const std::string& id : *found) {
      JournalEntry one = entry;
      one.sandbox_id = id;
      const Fate fate = DeleteById(provider, entry, id, stop, report.errors);
      left = left || fate == Fate::kLeft;
      (fate == Fate::kLeft ? report.left : report.deleted).push_back(std::move(one));
    }
    if (left) continue;
    if (!found->empty() || clock.WallNow() - entry.since >= lost_create_patience) {
      journal.NotCreated(entry.create_tag);
      if (found->empty()) report.gone.push_back(std::move(entry));
    } else {
      report.left.push_back(std::move(entry));
    }
  }
  return report;
}

class SandboxSweeper::Impl {
 public:
  Impl(FileJournal& journal, SandboxProvider& provider, Options options)
      : journal_(journal),
        provider_(provider),
        options_(std::move(options)),
        clock_(options_.clock != nullptr ? *options_.clock : SystemClock::Instance()),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

 private:
  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const SweepReport report = SweepJournal(journal_, provider_, clock_, options_.lost_create_patience, stop);
      if (options_.on_report) options_.on_report(report);
      internal::PauseUntil(clock_, clock_.Now() + options_.interval, stop, "next sweep");
    }
  }

  FileJournal& journal_;
  SandboxProvider& provider_;
  const Options options_;
  Clock& clock_;
  std::jthread thread_;  // last: it uses the others
};

SandboxSweeper::SandboxSweeper(FileJournal& journal, SandboxProvider& provider, Options options)
    : impl_(std::make_unique<Impl>(journal, provider, std::move(options))) {}

SandboxSweeper::~SandboxSweeper() = default;

}  // namespace opensandbox
