// A load generator in a process of its own: keep-alive connections on one epoll loop.
#ifndef OPENSANDBOX_TESTS_BENCH_LOAD_H_
#define OPENSANDBOX_TESTS_BENCH_LOAD_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace opensandbox::bench {

// What every connection sends again and again, one request at a time. "{id}" in a request stands for the value of the
// first `"id":"..."` seen since the script began; a request whose head lacks Content-Length gets none added.
struct LoadJob {
  int port = 0;
  int connections = 1;
  int rounds = 1;  // how often the script is run, over all connections together
  std::vector<std::string> script;
};

struct LoadResult {
  double seconds = 0;
  std::uint64_t replies = 0;
  std::uint64_t failures = 0;  // replies that were not 2xx, connections lost
  double rate() const { return seconds > 0 ? static_cast<double>(replies) / seconds : 0; }
};

// Forked at construction: make it before the first thread.
class LoadProcess {
 public:
  LoadProcess();
  ~LoadProcess();
  LoadProcess(const LoadProcess&) = delete;
  LoadProcess& operator=(const LoadProcess&) = delete;

  LoadResult Run(const LoadJob& job);

 private:
  int to_child_ = -1;
  int from_child_ = -1;
  pid_t child_ = -1;
};

// One request on a new connection; the whole reply, head included. Empty on failure.
std::string FetchOnce(int port, const std::string& request);

}  // namespace opensandbox::bench

#endif  // OPENSANDBOX_TESTS_BENCH_LOAD_H_
