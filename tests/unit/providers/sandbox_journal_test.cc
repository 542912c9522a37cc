#include "opensandbox/providers/sandbox_journal.h"

#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "opensandbox/mocks/mock_sandbox_provider.h"
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT: this project's
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

class SandboxJournalTest : public ProviderTest {
 protected:
  SandboxJournalTest() {
    static int count = 0;
    folder_ = fs::temp_directory_path() /
              ("opensandbox-journal-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    fs::create_directories(folder_);
    path_ = (folder_ / "journal").string();
  }
  ~SandboxJournalTest() override { fs::remove_all(folder_); }

  FileJournal& journal() {
    if (journal_ == nullptr) Reopen();
    return *journal_;
  }
  // What a process finds that comes after this one.
  void Reopen() {
    journal_.reset();
    Result<std::unique_ptr<FileJournal>> opened = FileJournal::Open(path_, &script().virtual_clock());
    ASSERT_THAT(opened, IsOk());
    journal_ = *std::move(opened);
  }
  SandboxProvider& journaled() {
    options_.journal = &journal();
    return provider();
  }
  SweepReport Sweep() { return SweepJournal(journal(), provider(), script().virtual_clock()); }
  std::string FileText() const {
    std::ifstream file(path_);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static JournalEntry Entry(const std::string& tag, const std::string& id = "") {
    return {"opensandbox", kBase, tag, id, {}, false};
  }

  fs::path folder_;
  std::string path_;

 private:
  std::unique_ptr<FileJournal> journal_;
};

// --- the file
// ---------------------------------------------------------------------------------------------------------

TEST_F(SandboxJournalTest, WhatIsOpenIsFoundAbandonedByTheNextProcess) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  ASSERT_THAT(journal().WillCreate(Entry("t2")), IsOk());
  ASSERT_THAT(journal().WillCreate(Entry("t3")), IsOk());
  journal().Created("t2", "sb-2");
  journal().NotCreated("t3");
  EXPECT_FALSE(journal().Entries()[0].abandoned);
  Reopen();
  const std::vector<JournalEntry> entries = journal().Entries();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].create_tag, "t1");
  EXPECT_EQ(entries[0].api_base, kBase);
  EXPECT_EQ(entries[0].since, script().virtual_clock().WallNow());
  EXPECT_TRUE(entries[0].abandoned);
  EXPECT_EQ(entries[1].sandbox_id, "sb-2");
}

TEST_F(SandboxJournalTest, WhatWasDeletedIsForgotten) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  journal().Created("t1", "sb-1");
  journal().Deleted("e2b", "sb-1");  // another provider's
  EXPECT_THAT(journal().Entries(), SizeIs(1));
  journal().Deleted("opensandbox", "sb-1");
  EXPECT_THAT(journal().Entries(), IsEmpty());
  Reopen();
  EXPECT_THAT(journal().Entries(), IsEmpty());
  EXPECT_EQ(FileText(), "");  // compacted
}

TEST_F(SandboxJournalTest, ALineThatACrashHasCutIsIgnored) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  {
    std::ofstream file(path_, std::ios::app);
    file << "garbage\n{\"event\":\"not_created\",\"create_t";
  }
  Reopen();
  EXPECT_THAT(journal().Entries(), SizeIs(1));
}

TEST_F(SandboxJournalTest, OneProcessAtATimeHasIt) {
  (void)journal();
  EXPECT_THAT(FileJournal::Open(path_),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, HasSubstr("in use by another process"))));
  EXPECT_THAT(FileJournal::Open((folder_ / "no" / "such").string()), FailsWith(ErrorKind::kInvalidArgument));
}

TEST_F(SandboxJournalTest, TheFileDoesNotGrowWithThePast) {
  for (int i = 0; i < 600; ++i) {  // twice as many lines
    const std::string tag = "t" + std::to_string(i);
    ASSERT_THAT(journal().WillCreate(Entry(tag)), IsOk());
    journal().NotCreated(tag);
  }
  EXPECT_LT(FileText().size(), 100u * 1000u);
}

// --- the providers
// ----------------------------------------------------------------------------------------------------

TEST_F(SandboxJournalTest, TheLineIsWrittenBeforeTheCreateIsSent) {
  Exchange created = Reply(202, SandboxJson("sb-1", "Running"));
  created.before = [this] { EXPECT_THAT(FileText(), HasSubstr(R"("event":"create","provider":"opensandbox")")); };
  script().Then(created).Then(Reply(200, EndpointJson()));
  ASSERT_THAT(journaled().CreateSandbox({}), IsOk());
  ASSERT_THAT(journal().Entries(), SizeIs(1));
  EXPECT_EQ(journal().Entries()[0].sandbox_id, "sb-1");
  EXPECT_EQ(journal().Entries()[0].create_tag, SentTag());
  script().Then(Reply(204, ""));
  ASSERT_THAT(provider().DeleteSandbox("sb-1", {}), IsOk());
  EXPECT_THAT(journal().Entries(), IsEmpty());
}

TEST_F(SandboxJournalTest, ACreateThatDidNotHappenLeavesNoEntry) {
  script().Then(Reply(401, ""));
  EXPECT_THAT(journaled().CreateSandbox({}), FailsWith(ErrorKind::kApi));
  EXPECT_THAT(journal().Entries(), IsEmpty());
}

TEST_F(SandboxJournalTest, ACreateOfUnknownOutcomeStaysUnderItsTag) {
  script().Then(Reset());
  script().Otherwise([](const HttpRequest&) { return Reply(401, ""); });
  EXPECT_FALSE(journaled().CreateSandbox({}).has_value());
  ASSERT_THAT(journal().Entries(), SizeIs(1));
  EXPECT_TRUE(journal().Entries()[0].abandoned);
  EXPECT_EQ(journal().Entries()[0].create_tag, SentTag());
}

TEST_F(SandboxJournalTest, AFailedDeleteIsLeftForTheSweep) {
  script().Then(Reply(202, SandboxJson("sb-1", "Running"))).Then(Reply(200, EndpointJson())).Then(Reply(401, ""));
  ASSERT_THAT(journaled().CreateSandbox({}), IsOk());
  EXPECT_FALSE(provider().DeleteSandbox("sb-1", {}).has_value());
  ASSERT_THAT(journal().Entries(), SizeIs(1));
  EXPECT_TRUE(journal().Entries()[0].abandoned);
  script().Then(Reply(204, ""));
  EXPECT_THAT(Sweep().deleted, SizeIs(1));
  EXPECT_THAT(journal().Entries(), IsEmpty());
}

TEST_F(SandboxJournalTest, AJournalThatCannotBeWrittenStopsTheCreate) {
  class Broken : public SandboxJournal {
   public:
    Result<void> WillCreate(const JournalEntry&) override {
      Error error;
      error.kind = ErrorKind::kInvalidArgument;
      error.message = "disk full";
      return error;
    }
    void Created(const std::string&, const std::string&) override {}
    void NotCreated(const std::string&) override {}
    void Abandoned(const JournalEntry&) override {}
    void Deleted(const std::string&, const std::string&) override {}
  } broken;
  options_.journal = &broken;
  EXPECT_THAT(provider().CreateSandbox({}),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, "disk full")));
  EXPECT_THAT(script().seen(), IsEmpty());
}

// --- sweeps
// -----------------------------------------------------------------------------------------------------------

TEST_F(SandboxJournalTest, SandboxesInUseAreNotSwept) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  journal().Created("t1", "sb-1");
  EXPECT_THAT(Sweep().left, IsEmpty());
  EXPECT_THAT(script().seen(), IsEmpty());
  EXPECT_THAT(journal().Entries(), SizeIs(1));
}

TEST_F(SandboxJournalTest, AnEntryWithoutIdIsFoundByItsTag) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  Reopen();
  script().Then(Reply(200, ListJson({"sb-1", "sb-2"}, "t1"))).Then(Reply(204, "")).Then(Reply(204, ""));
  const SweepReport report = Sweep();
  ASSERT_THAT(report.deleted, SizeIs(2));
  EXPECT_EQ(report.deleted[0].sandbox_id, "sb-1");
  EXPECT_THAT(journal().Entries(), IsEmpty());
}

TEST_F(SandboxJournalTest, ATagThatFindsNothingIsKeptForALateCommit) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  Reopen();
  script().Otherwise([](const HttpRequest&) { return Reply(200, R"({"items":[]})"); });
  script().virtual_clock().Advance(10min - 1ms);
  EXPECT_THAT(Sweep().left, SizeIs(1));
  script().virtual_clock().Advance(1ms);
  EXPECT_THAT(Sweep().gone, SizeIs(1));
  EXPECT_THAT(journal().Entries(), IsEmpty());
}

TEST_F(SandboxJournalTest, WhatCannotBeDeletedOrListedIsKeptAndTold) {
  ASSERT_THAT(journal().WillCreate(Entry("t1")), IsOk());
  ASSERT_THAT(journal().WillCreate(Entry("t2")), IsOk());
  journal().Created("t2", "sb-2");
  Reopen();
  script().Otherwise([](const HttpRequest&) { return Reply(403, ""); });
  const SweepReport report = Sweep();
  EXPECT_THAT(report.left, SizeIs(2));
  EXPECT_THAT(report.errors, SizeIs(2));
  EXPECT_THAT(journal().Entries(), SizeIs(2));
}

TEST_F(SandboxJournalTest, OtherProvidersEntriesAreLeftToThem) {
  JournalEntry other = Entry("t1", "sb-1");
  other.provider = "e2b";
  journal().Abandoned(other);
  const SweepReport report = Sweep();
  EXPECT_THAT(report.left, IsEmpty());
  EXPECT_THAT(script().seen(), IsEmpty());
}

// A process killed at any step of a create, a run and a delete.
TEST_F(SandboxJournalTest, KilledAtAnyStepNothingStaysAliveUnseen) {
  for (int kill_at = 1; kill_at <= 4; ++kill_at) {  // the create, the endpoint, the run, the delete
    const std::string world = (folder_ / ("alive-" + std::to_string(kill_at))).string();
    const auto serve = [&](ScriptedTransport& transport, int kill_at_request) {
      transport.Otherwise([&world, kill_at_request, requests = 0](const HttpRequest& request) mutable {
        // The server has done it when the process dies.
        if (request.method == "POST" && request.url.find("/sandboxes") != std::string::npos) {
          const std::string before = std::string("\"") + kCreateTagKey + "\":\"";
          std::ofstream(world) << request.body.substr(request.body.find(before) + before.size(), 32);
        }
        if (request.method == "DELETE") fs::remove(world);
        if (++requests == kill_at_request) ::_exit(9);
        if (request.method == "DELETE") return Reply(204, "");
        if (request.url.find("/endpoints/") != std::string::npos) return Reply(200, EndpointJson());
        if (request.url.find("/code") != std::string::npos) return Streams({{"{\"type\":\"execution_complete\"}\n"}});
        if (request.method == "POST") return Reply(202, SandboxJson("sb-1", "Running"));
        std::ifstream file(world);
        std::string tag;
        return file >> tag ? Reply(200, ListJson({"sb-1"}, tag)) : Reply(200, R"({"items":[]})");
      });
    };
    const std::string path = path_ + std::to_string(kill_at);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto transport = std::make_shared<ScriptedTransport>();
      serve(*transport, kill_at);
      Result<std::unique_ptr<FileJournal>> own = FileJournal::Open(path);
      OpenSandboxProviderOptions options = options_;
      options.transport = transport;
      options.journal = own->get();
      (void)RunCodeInEphemeralSandbox(*MakeOpenSandboxProvider(options), {}, {.code = "1"});
      ::_exit(0);  // not reached
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 9);
    EXPECT_EQ(fs::exists(world), kill_at < 4);

    auto transport = std::make_shared<ScriptedTransport>();
    serve(*transport, -1);
    OpenSandboxProviderOptions options = options_;
    options.transport = transport;
    const auto next = MakeOpenSandboxProvider(options);
    Result<std::unique_ptr<FileJournal>> journal = FileJournal::Open(path);
    ASSERT_THAT(journal, IsOk());
    EXPECT_THAT((*journal)->Entries(), SizeIs(1)) << "killed at request " << kill_at;
    SweepJournal(**journal, *next, SystemClock::Instance());
    EXPECT_FALSE(fs::exists(world)) << "killed at request " << kill_at;
    EXPECT_THAT((*journal)->Entries(), IsEmpty());
  }
}

TEST_F(SandboxJournalTest, TheSweeperSweepsAtOnceAndAgain) {
  journal().Abandoned(Entry("", "sb-1"));
  script().Then(Reply(403, "")).Then(Reply(204, ""));
  VirtualClock hand(VirtualClock::Options{.auto_jump = false});
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> left;
  SandboxSweeper::Options options;
  options.clock = &hand;
  options.on_report = [&](const SweepReport& report) {
    const std::lock_guard lock(mutex);
    left.push_back(report.left.size());
    changed.notify_all();
  };
  SandboxProvider& swept = provider();
  {
    SandboxSweeper sweeper(journal(), swept, options);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return left.size() == 1; });
    lock.unlock();
    while (hand.PendingDeadlines().empty()) std::this_thread::yield();
    hand.Advance(5min);
    lock.lock();
    changed.wait(lock, [&] { return left.size() == 2; });
  }
  EXPECT_THAT(left, ElementsAre(1u, 0u));
  EXPECT_THAT(journal().Entries(), IsEmpty());
}

}  // namespace
}  // namespace opensandbox
