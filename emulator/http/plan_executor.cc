#include "emulator/http/plan_executor.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace opensandbox::emulator {
namespace {

// Steps that may be coalesced are sent when so much has come together.
constexpr std::size_t kCoalescedBytesMax = 64 << 10;
constexpr std::string_view kTerminator = "0\r\n\r\n";

// RFC 9110 section 6.4.1.
bool StatusAllowsBody(int status) { return status >= 200 && status != 204 && status != 304; }

bool EqualsWithoutCase(std::string_view a, std::string_view lower_case) {
  return a.size() == lower_case.size() && std::equal(a.begin(), a.end(), lower_case.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
         });
}

std::string_view ChunkHeader(std::size_t size, char (&buffer)[20]) {
  char* end = std::to_chars(buffer, buffer + 16, size, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  return {buffer, static_cast<std::size_t>(end - buffer)};
}

class Execution {
 public:
  Execution(ConnectionStream& stream, ReplyPlan plan, const ExchangeRules& rules)
      : stream_(stream), plan_(std::move(plan)), rules_(rules) {}
  ~Execution() {
    // Something threw.
    if (!told_) Tell(std::nullopt, false);
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  bool Run() {
    if (!Delay(plan_.delay_before_head, "delay before head")) return false;
    if (plan_.cut && plan_.cut->at == Cut::At::kBeforeHead) return CutShort();
    QueueHead();
    if (plan_.cut && (plan_.cut->at == Cut::At::kAfterHead || plan_.cut->bytes == 0)) return CutShort();
    if (plan_.delay_before_body > Duration::zero()) {
      if (!Send() || !Delay(plan_.delay_before_body, "delay before body")) return false;
    }
    if (rules_.head_request || !StatusAllowsBody(plan_.status)) {
      has_body_ = false;
      return EndAs(plan_.source == nullptr ? plan_.ending : Ending::kComplete);
    }
    if (plan_.source != nullptr) return RunSource();
    if (!QueuePayload(plan_.body, false)) return CutShort();
    return EndAs(plan_.ending);
  }

 private:
  void QueueHead() {
    std::string head;
    head.reserve(256);
    head += plan_.garbage_before_head;
    head += "HTTP/1.1 ";
    head += std::to_string(plan_.status);
    head += ' ';
    head += plan_.reason.empty() ? StandardReason(plan_.status) : std::string_view(plan_.reason);
    head += "\r\n";
    bool length_told = plan_.chunked;
    for (const Header& header : plan_.headers) {
      head += header.name;
      head += ": ";
      head += header.value;
      head += "\r\n";
      if (EqualsWithoutCase(header.name, "content-length") || EqualsWithoutCase(header.name, "transfer-encoding")) {
        length_told = true;
      }
      if (EqualsWithoutCase(header.name, "connection") && EqualsWithoutCase(header.value, "close")) closes_ = true;
    }
    head += "\r\n";
    // Only the end of the connection tells where such a body ends.
    if (!length_told && StatusAllowsBody(plan_.status) && !rules_.head_request) closes_ = true;
    stream_.Queue(head, &head_bytes_);
  }

  // False: the cut is reached, and nothing behind it was queued.
  bool QueuePayload(std::string_view bytes, bool raw) {
    if (bytes.empty()) return true;
    const bool framed = plan_.chunked && !raw;
    char buffer[20];
    if (framed) stream_.Queue(ChunkHeader(bytes.size(), buffer), nullptr);
    const bool cuts = plan_.cut && plan_.cut->at == Cut::At::kBodyByte;
    const std::uint64_t left = cuts ? plan_.cut->bytes - payload_queued_ : bytes.size() + std::uint64_t{1};
    const std::string_view part =
        bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size())));
    stream_.Queue(part, &body_bytes_);
    payload_queued_ += part.size();
    // A cut at the end of a chunk leaves that chunk whole.
    if (framed && part.size() == bytes.size()) stream_.Queue("\r\n", nullptr);
    return left > bytes.size();
  }

  bool RunSource() {
    if (!Send()) return false;
    plan_.source->BindWaker(stream_.waker());
    while (true) {
      if (stream_.control().end_now()) return Stopped();
      BodyStep step = plan_.source->Next(stream_.clock().Now(), stream_.clock().WallNow());
      switch (step.kind) {
        case BodyStep::Kind::kBytes:
          if (!QueuePayload(step.bytes, step.raw)) return CutShort();
          if ((step.flush || stream_.queued() >= kCoalescedBytesMax) && !Send()) return false;
          break;
        case BodyStep::Kind::kWait:
          if (!Send() || !WaitForSource(step)) return false;
          break;
        case BodyStep::Kind::kEnd:
          return EndAs(step.ending);
      }
    }
  }

  bool Send() {
    switch (stream_.Flush()) {
      case IoResult::kOk:
        return true;
      case IoResult::kStopped:
        return Stopped();
      default:
        return ClientClosed(std::nullopt);
    }
  }

  bool Delay(Duration delay, const char* label) {
    return delay <= Duration::zero() || Wait(stream_.clock().Now() + delay, false, label);
  }

  bool WaitForSource(const BodyStep& step) {
    const bool silent = step.silent || !step.until;
    if (silent) stream_.control().SetState(ConnectionControl::State::kSilent);
    const bool goes_on = Wait(step.until, true, "stream");
    if (silent) stream_.control().SetState(ConnectionControl::State::kBusy);
    return goes_on;
  }

  bool Wait(std::optional<TimePoint> until, bool use_waker, const char* label) {
    switch (stream_.Wait(until, use_waker, label)) {
      case IoResult::kClosed:
        return ClientClosed(std::nullopt);
      case IoResult::kStopped:
        return Stopped();
      default:
        return true;
    }
  }

  bool CutShort() {
    const Ending ending = plan_.cut->ending;
    return EndAs(ending == Ending::kComplete || ending == Ending::kClean ? Ending::kNoTerminator : ending);
  }

  bool EndAs(Ending ending) {
    if (has_body_ && plan_.chunked && (ending == Ending::kComplete || ending == Ending::kClean)) {
      stream_.Queue(kTerminator, nullptr);
    }
    if (!Send()) return false;
    switch (ending) {
      case Ending::kComplete:
        Tell(ending, false);
        if (!closes_ && !rules_.close_after) return true;
        stream_.CloseFin(rules_.linger);
        return false;
      case Ending::kClean:
      case Ending::kNoTerminator:
      case Ending::kFin:
        Tell(ending, false);
        stream_.CloseFin(rules_.linger);
        return false;
      case Ending::kRst:
        Tell(ending, false);
        stream_.CloseRst();
        return false;
      case Ending::kSilence:
        break;
    }
    stream_.control().SetState(ConnectionControl::State::kSilent);
    if (stream_.WaitClosed("silence") == IoResult::kClosed) return ClientClosed(ending);
    Tell(ending, false);
    stream_.CloseFin();
    return false;
  }

  bool ClientClosed(std::optional<Ending> ending) {
    if (plan_.source != nullptr) plan_.source->ClientClosed(stream_.clock().Now());
    Tell(ending, true);
    stream_.CloseFin();
    return false;
  }

  bool Stopped() {
    Tell(std::nullopt, false);
    stream_.CloseFin();
    return false;
  }

  // Before the connection closes: who sees the close finds the end already told.
  void Tell(std::optional<Ending> ending, bool client_closed) {
    told_ = true;
    if (!plan_.on_end) return;
    ExchangeEnd end;
    end.status = head_bytes_ > 0 ? plan_.status : 0;
    end.head_bytes = head_bytes_;
    end.body_bytes = body_bytes_;
    end.ending = ending;
    end.client_closed = client_closed;
    end.at = stream_.clock().Now();
    plan_.on_end(end);
  }

  ConnectionStream& stream_;
  ReplyPlan plan_;
  const ExchangeRules rules_;
  std::uint64_t head_bytes_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t payload_queued_ = 0;
  bool has_body_ = true;
  bool closes_ = false;
  bool told_ = false;
};

}  // namespace

bool ExecutePlan(ConnectionStream& stream, ReplyPlan plan, const ExchangeRules& rules) {
  Execution execution(stream, std::move(plan), rules);
  return execution.Run();
}

}  // namespace opensandbox::emulator
