// One provider, many threads.
#include <set>
#include <thread>

#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using ::testing::IsEmpty;

class ConcurrencyTest : public ProviderTest {};

TEST_F(ConcurrencyTest, ManyThreadsCreateRunAndDeleteWithOneProvider) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  std::mutex mutex;
  int next_id = 0;
  int failures = 0;
  std::set<std::string> live;
  std::set<std::string> tags;
  script().Otherwise([&](const HttpRequest& request) {
    const std::lock_guard lock(mutex);
    // Every seventh request fails in a way that must be repaired.
    if (++failures % 7 == 0 && request.method != "POST") return Reply(503, "");
    if (request.method == "DELETE") {
      live.erase(request.url.substr(request.url.rfind('/') + 1));
      return Reply(204, "");
    }
    if (request.url.find("/endpoints/") != std::string::npos) return Reply(200, EndpointJson());
    if (request.method == "GET") return Reply(200, SandboxJson("x", "Running"));
    if (request.url.find("/code") != std::string::npos) {
      return Streams({{"{\"type\":\"stdout\",\"text\":\"ok\"}\n{\"type\":\"execution_complete\"}\n"}});
    }
    const std::string id = "sb-" + std::to_string(next_id++);
    live.insert(id);
    tags.insert(request.body.substr(request.body.find(kCreateTagKey), 70));
    return Reply(202, SandboxJson(id, "Pending"));
  });
  SandboxProvider& shared = provider();
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRounds; ++i) {
          const Result<CodeExecutionResult> result = RunCodeInEphemeralSandbox(shared, {}, {.code = "x"});
          if (result && result->stdout_text == "ok") ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, kThreads * kRounds);
  EXPECT_EQ(tags.size(), static_cast<std::size_t>(kThreads * kRounds));
  EXPECT_THAT(live, IsEmpty());
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

}  // namespace
}  // namespace opensandbox
