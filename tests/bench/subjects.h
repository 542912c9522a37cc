// The servers that are compared.
#ifndef OPENSANDBOX_TESTS_BENCH_SUBJECTS_H_
#define OPENSANDBOX_TESTS_BENCH_SUBJECTS_H_

#include <memory>
#include <string>
#include <vector>

namespace opensandbox::bench {

// Answers that a server without any logic gives: by method and by how the path ends.
struct CannedReply {
  std::string method;
  std::string pattern;  // of cpp-httplib's router
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  // without the framing ones
  std::string body;
};

// From a whole reply as it came over the wire: status, headers but the framing ones, body with chunks joined.
CannedReply Can(std::string method, std::string pattern, const std::string& reply);

class Subject {
 public:
  virtual ~Subject() = default;
  virtual int port() const = 0;
};

// cpp-httplib's own server as it is best set up: no Nagle, a worker for every connection, unlimited keep-alive, a deep
// backlog.
std::unique_ptr<Subject> StartBareServer(std::vector<CannedReply> replies, int workers);

// Our HTTP layer with a handler that does nothing but make the plan.
std::unique_ptr<Subject> StartHttpLayer(std::vector<CannedReply> replies);

// The whole emulator with its default scenario, journal on.
std::unique_ptr<Subject> StartEmulator();

}  // namespace opensandbox::bench

#endif  // OPENSANDBOX_TESTS_BENCH_SUBJECTS_H_
