// Recorded exchanges of execd, the egress sidecar and the server's proxy. Runs of code are played from a script made of
// the recorded events, since no Python runs here; everything else must come out by itself. What does not match must
// stand in execd_known_differences.txt with its reason, and what stands there must not match.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "emulator/opensandbox/egress_surface.h"
#include "emulator/opensandbox/execd_stream.h"
#include "emulator/opensandbox/surfaces.h"
#include "opensandbox/base/rfc3339.h"
#include "tests/conformance/replay.h"

namespace opensandbox::emulator::conformance {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr char kFolder[] = OPENSANDBOX_SOURCE_DIR "/tests/conformance/";
const std::vector<std::string> kFiles = {"execd-code", "execd-routing", "execd-proxy", "server-proxy-errors",
                                         "egress-policy"};

const std::vector<Recording>& Recordings(const std::string& file) {
  static auto* const all = new std::map<std::string, std::vector<Recording>>;
  auto [found, fresh] = all->try_emplace(file);
  if (fresh) found->second = LoadRecordings(std::string(kFolder) + "recordings/" + file + ".jsonl");
  return found->second;
}

const std::map<std::string, std::string>& KnownDifferences() {
  static const auto* const kAll = new std::map<std::string, std::string>(
      LoadKnownDifferences(std::string(kFolder) + "execd_known_differences.txt"));
  return *kAll;
}

bool Has(const Recording& entry, const std::string& kind) {
  return std::find(entry.normalise.begin(), entry.normalise.end(), kind) != entry.normalise.end();
}

// The events of a recorded stream; what is behind the last pair of line feeds is the last item.
std::vector<std::string> SplitEvents(const std::string& body) {
  std::vector<std::string> events;
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = std::min(body.find("\n\n", at), body.size());
    events.push_back(body.substr(at, end - at));
    at = end + 2;
  }
  return events;
}

bool IsStream(const Recording& entry) {
  const auto& headers = entry.reply.headers;
  return std::any_of(headers.begin(), headers.end(),
                     [](const Header& header) { return header.value == "text/event-stream"; });
}

// A script that plays what was recorded. Counts come from the emulator's own counting.
ExecutionScript ScriptOf(const Recording& entry, bool interrupted) {
  using Kind = ExecutionEvent::Kind;
  ExecutionScript script;
  script.rule_id = "recorded";
  script.end = interrupted ? ExecutionEnd::kSilenceWithPings : ExecutionEnd::kNoCompletion;
  const bool kernel = entry.body.find("\"language\"") != std::string::npos;
  for (const std::string& line : SplitEvents(entry.reply.body)) {
    const json event = json::parse(line, nullptr, false);
    if (!event.is_object()) continue;
    const std::string type = event.value("type", "");
    ExecutionEvent scripted;
    if (type == "stdout" || type == "stderr") {
      scripted.kind = type == "stdout" ? Kind::kStdout : Kind::kStderr;
      scripted.text = event["text"].get<std::string>();
      if (!kernel) scripted.text += "\n";
    } else if (type == "result") {
      scripted.kind = Kind::kResult;
      for (const auto& [mime, value] : event["results"].items()) {
        scripted.results.emplace_back(mime == "text" ? "text/plain" : mime,
                                      value.is_string() ? value.get<std::string>() : value.dump());
      }
    } else if (type == "error" && !interrupted) {
      scripted.kind = Kind::kError;
      scripted.error_name = event["error"]["ename"].get<std::string>();
      scripted.error_value = event["error"]["evalue"].get<std::string>();
      if (event["error"]["traceback"].is_array()) {
        scripted.traceback = event["error"]["traceback"].get<std::vector<std::string>>();
      }
    } else if (type == "execution_complete") {
      if (!interrupted) script.end = ExecutionEnd::kComplete;
      continue;
    } else if (type.empty() && event.contains("code")) {
      scripted.kind = Kind::kBareError;
      scripted.error_name = event["code"].get<std::string>();
      scripted.error_value = event["message"].get<std::string>();
    } else {
      continue;
    }
    script.events.push_back(std::move(scripted));
  }
  return script;
}

// The rules of the recordings' README that change more than a piece of text.
std::string StreamRules(std::string text, const Recording& entry) {
  if (Has(entry, "unordered-array")) {
    json array = json::parse(text, nullptr, false);
    if (!array.is_array()) return text;
    std::sort(array.begin(), array.end(), [](const json& a, const json& b) { return a["language"] < b["language"]; });
    return array.dump();
  }
  if (!IsStream(entry)) return text;
  std::vector<std::string> events = SplitEvents(text);
  if (Has(entry, "pings")) {
    std::erase_if(events,
                  [](const std::string& event) { return event.find("\"type\":\"ping\"") != std::string::npos; });
  }
  for (std::string& event : events) {
    static const std::regex kTimes("\"execution_time\":[0-9]+,|\"timestamp\":[0-9]+");
    event = std::regex_replace(event, kTimes, "");
    if (Has(entry, "traceback")) {
      if (const std::size_t at = event.find("\"traceback\""); at != std::string::npos) event.resize(at);
    }
  }
  if (Has(entry, "event-order") && events.size() > 1) std::sort(events.begin() + 1, events.end());
  std::string normal;
  for (const std::string& event : events) normal += event + "\n";
  return normal;
}

// The recorder closed this one at once.
constexpr char kCut[] = "client-disconnect-code--cut";

// Requests that were made while a longer one was open, and that one.
const std::map<std::string, std::string>& OpenBeside() {
  static const auto* const kAll = new std::map<std::string, std::string>{
      {"interrupt--busy", "interrupt--sleeper"},
      {"delete-while-running--delete", "delete-while-running--runner"},
  };
  return *kAll;
}

// One fresh sandbox and what stands in front of it.
class Server {
 public:
  Server(std::string file, const std::string& group) : file_(std::move(file)) {
    tenant_.store = std::make_unique<SandboxStore>(SandboxStore::Options{.seed = 7});
    tenant_.journal = std::make_unique<Journal>();
    tenant_.store->SetListener([this](const Sandbox& sandbox) { WakeExecutions(tenant_, sandbox); });
    SandboxSpec spec;
    if (file_ == "egress-policy") spec.network_policy_json = "{}";
    if (group == "egress-through-proxy") {
      spec.network_policy_json = R"({"defaultAction":"deny","egress":[{"action":"allow","target":"pkg.test"}]})";
    }
    sandbox_ = tenant_.store->Create(std::move(spec), {}, 1, now_, wall_);
    if (file_ == "egress-policy") sandbox_->egress_token = group == "no-token-configured" ? "" : "test-egress-token";
  }

  Reply Exchange(const Recording& entry, Request request) {
    now_ += 10s;  // what lost its client has ended
    wall_ += 10s;
    if (const auto beside = OpenBeside().find(entry.id); beside != OpenBeside().end()) {
      Start(beside->second, entry);
    }
    if (const auto open = open_.find(entry.id); open != open_.end()) {
      Reply reply = std::move(open->second.first);
      reply.body += Render(std::move(open->second.second), now_, wall_).body;
      return reply;
    }
    ExecutionScript script = ScriptOf(entry, false);
    if (entry.id == kCut) script.delay_before_end = 1500ms;  // it sleeps that long
    Plan(std::move(script));
    if (file_ == "egress-policy") return Egress(request);
    if (file_ == "server-proxy-errors") {
      PrepareSandbox(entry.id);
      static const std::regex kId("/sandboxes/[0-9a-f-]{36}/");
      request.path = std::regex_replace(request.path, kId, "/sandboxes/" + sandbox_->id + "/");
      for (Header& header : request.headers) {
        if (header.name == "OPENSANDBOX-EGRESS-AUTH") header.value = sandbox_->egress_token;
      }
    } else {
      request.path = "/sandbox/" + sandbox_->id + "/proxy/44772" + request.path;
    }
    ReplyPlan plan = Handle(request);
    if (entry.id == kCut) return CutAtOnce(std::move(plan));
    Reply reply = Render(std::move(plan), now_, wall_);
    // Ids are ours.
    static const std::regex kUuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
    if (file_ == "server-proxy-errors" && reply.status == 404) {
      std::smatch recorded;
      if (std::regex_search(entry.reply.body, recorded, kUuid)) {
        reply.body = std::regex_replace(reply.body, kUuid, recorded[0].str());
      }
    }
    return reply;
  }

 private:
  void Plan(ExecutionScript script) {
    auto scenario = std::make_shared<Scenario>();
    ExecutionRule rule;
    rule.id = script.rule_id;
    rule.script = std::move(script);
    scenario->execution.push_back(std::move(rule));
    tenant_.scenario = scenario;
    tenant_.engine = std::make_unique<ScenarioEngine>(tenant_.scenario, 7);
  }

  ReplyPlan Handle(const Request& request) {
    const Route route = RouteRequest(request);
    tenant_.store->AdvanceTo(now_);
    Call call{.request = request, .route = route, .tenant = tenant_, .now = now_, .wall_now = wall_};
    call.request_id = RequestIdOf(request, tenant_.store->NewHex32());
    return HandleSandboxPort(call);
  }

  Reply Egress(const Request& request) {
    const Route route;
    Call call{.request = request, .route = route, .tenant = tenant_, .now = now_, .wall_now = wall_};
    Reply reply = Render(HandleEgress({.call = call, .sandbox = *sandbox_, .path = PercentDecode(request.path, false)}),
                         now_, wall_);
    // The policy can't be changed yet (those steps are known differences); the next GET shows what it would be.
    if (request.method == "POST" || request.method == "PUT") sandbox_->spec.network_policy_json = request.body;
    return reply;
  }

  // Opens the longer request in the context that this entry names.
  void Start(const std::string& id, const Recording& beside) {
    const auto& all = Recordings(file_);
    const auto longer =
        std::find_if(all.begin(), all.end(), [&](const Recording& recording) { return recording.id == id; });
    ASSERT_NE(longer, all.end());
    static const std::regex kUuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    std::smatch context;
    const std::string named = beside.target + beside.body;
    ASSERT_TRUE(std::regex_search(named, context, kUuid));
    Plan(ScriptOf(*longer, true));
    Request request = MakeRequest(*longer);
    request.body = std::regex_replace(request.body, kUuid, context[0].str());
    request.path = "/sandbox/" + sandbox_->id + "/proxy/44772" + request.path;
    ReplyPlan plan = Handle(request);
    ASSERT_NE(plan.source, nullptr);
    Reply reply{.status = plan.status,
                .reason = std::string(StandardReason(plan.status)),
                .headers = plan.headers,
                .body = ReadToPause(*plan.source)};
    open_[id] = {std::move(reply), std::move(plan)};
  }

  std::string ReadToPause(BodySource& source) {
    std::string body;
    for (BodyStep step = source.Next(now_, wall_); step.kind == BodyStep::Kind::kBytes;
         step = source.Next(now_, wall_)) {
      body += step.bytes;
    }
    return body;
  }

  Reply CutAtOnce(ReplyPlan plan) {
    Reply reply = {.status = plan.status,
                   .reason = std::string(StandardReason(plan.status)),
                   .headers = plan.headers,
                   .body = ReadToPause(*plan.source)};
    plan.source->ClientClosed(now_);
    now_ -= 10s;  // the next step comes while the run goes on
    wall_ -= 10s;
    return reply;
  }

  // The state of the sandbox that a step of the recording found.
  void PrepareSandbox(const std::string& id) {
    if (id == "states--deleted") tenant_.store->End(*sandbox_, {.at = now_});
    if (id == "states--exited") {
      sandbox_ = tenant_.store->Create({}, {}, 1, now_, wall_);
      tenant_.store->SetState(*sandbox_, state::kTerminated, "", "", now_);
    }
  }

  const std::string file_;
  Tenant tenant_;
  Sandbox* sandbox_ = nullptr;
  std::map<std::string, std::pair<Reply, ReplyPlan>> open_;
  TimePoint now_{};
  WallTime wall_{1796081145s};
};

std::vector<Outcome> Replay(const std::string& file, const std::string& group) {
  Server server(file, group);
  return ReplayGroup(
      Recordings(file), group,
      [&server](const Recording& entry, const Request& request) { return server.Exchange(entry, request); },
      StreamRules);
}

class ExecdRecordingTest : public testing::TestWithParam<std::string> {};

TEST_P(ExecdRecordingTest, IsAnsweredAlike) {
  std::size_t matched = 0, total = 0;
  for (const std::string& group : GroupsOf(Recordings(GetParam()))) {
    for (const Outcome& outcome : Replay(GetParam(), group)) {
      ++total;
      matched += outcome.matched ? 1 : 0;
      const auto known = KnownDifferences().find(outcome.id);
      if (known == KnownDifferences().end()) {
        EXPECT_TRUE(outcome.matched) << outcome.id << "\n" << outcome.difference;
      } else {
        EXPECT_FALSE(outcome.matched) << outcome.id << " matches now: take it from execd_known_differences.txt";
      }
    }
  }
  EXPECT_EQ(total, Recordings(GetParam()).size());
  RecordProperty("matched", static_cast<int>(matched));
}

INSTANTIATE_TEST_SUITE_P(Files, ExecdRecordingTest, testing::ValuesIn(kFiles),
                         [](const testing::TestParamInfo<std::string>& file) {
                           std::string name = file.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(ExecdRecordingsTest, EveryKnownDifferenceIsARecording) {
  for (const auto& [id, reason] : KnownDifferences()) {
    const bool found = std::any_of(kFiles.begin(), kFiles.end(), [&id = id](const std::string& file) {
      const auto& all = Recordings(file);
      return std::any_of(all.begin(), all.end(), [&id](const Recording& entry) { return entry.id == id; });
    });
    EXPECT_TRUE(found) << id;
  }
}

}  // namespace
}  // namespace opensandbox::emulator::conformance
