// Replays recordings of the real programs against our surfaces and compares the answers byte for byte after normalising
// what the recordings' own list names as variable.
#ifndef OPENSANDBOX_TESTS_CONFORMANCE_REPLAY_H_
#define OPENSANDBOX_TESTS_CONFORMANCE_REPLAY_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/core/http_message.h"
#include "emulator/core/reply_plan.h"

namespace opensandbox::emulator::conformance {

struct Reply {
  int status = 0;
  std::string reason;
  std::vector<Header> headers;
  std::string body;
};

// One recorded exchange.
struct Recording {
  std::string id;  // "<group>--<step name>"
  std::string group;
  std::string method, target;
  std::vector<Header> headers;
  std::string body;  // of the request
  Reply reply;
  bool unreadable = false;                                // a body in a form that this reader lacks (gzip)
  std::vector<std::pair<std::string, std::string>> vars;  // name, where to find it
  std::vector<std::string> normalise;
};

// In the order of the file. Fails the test and returns nothing if the file can't be read.
std::vector<Recording> LoadRecordings(const std::string& path);
// Groups in the order of the file.
std::vector<std::string> GroupsOf(const std::vector<Recording>& recordings);

// "<id> | <reason>" a line; '#' begins a comment. By id.
std::map<std::string, std::string> LoadKnownDifferences(const std::string& path);

// The request as a surface gets it: the target split, a chunked body put together.
Request MakeRequest(const Recording& entry);
// Runs a plan's body to its end at once; time stands still but for what the source waits for.
Reply Render(ReplyPlan plan, TimePoint now, WallTime wall_now);

// Sends one request of a recording and returns what came back.
using Exchange = std::function<Reply(const Recording& entry, const Request& request)>;
// Changes a text of both answers before they are compared, beyond the recording's own rules.
using ExtraRule = std::function<std::string(std::string text, const Recording& entry)>;

struct Outcome {
  std::string id;
  bool matched = false;
  bool needed_extra_rule = false;  // it matched only because of the extra rule
  std::string difference;          // for people
};

// Replays the entries of one group in order.
std::vector<Outcome> ReplayGroup(const std::vector<Recording>& recordings, const std::string& group,
                                 const Exchange& exchange, const ExtraRule& extra = nullptr);

}  // namespace opensandbox::emulator::conformance

#endif  // OPENSANDBOX_TESTS_CONFORMANCE_REPLAY_H_
