#include "emulator/http/http_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "emulator/http/connection_stream.h"
#include "emulator/http/elastic_threads.h"
#include "emulator/http/listener.h"
#include "emulator/http/plan_executor.h"
#include "emulator/http/request_reader.h"

namespace opensandbox::emulator {
namespace {

// Connections over the limit that are being told so at the same time. Further ones are reset.
constexpr std::size_t kRefusalsMax = 16;
// How long accept(2) rests when the process has no descriptor left.
constexpr int kExhaustedMs = 10;

ReplyPlan PlainText(int status, bool close) {
  ReplyPlan plan;
  plan.status = status;
  plan.body = StandardReason(status);
  plan.headers = {{"content-type", "text/plain; charset=utf-8"}, {"content-length", std::to_string(plan.body.size())}};
  if (close) plan.headers.push_back({"connection", "close"});
  return plan;
}

ReplyPlan MakeReply(const std::function<ReplyPlan()>& maker, int status) {
  return maker ? maker() : PlainText(status, true);
}

class HttpServerImpl : public HttpServer {
 public:
  HttpServerImpl(HttpServerOptions options, Handler handler, HttpServerReplies replies, Listener listener)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        replies_(std::move(replies)),
        listener_(std::move(listener)),
        wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        reader_({options_.head_bytes_max, options_.body_bytes_max, options_.keep_alive}),
        threads_(options_.connections_max + kRefusalsMax),
        acceptor_([this] { Accept(); }) {
    if (!options_.refusals.empty()) {
      gate_ = std::make_unique<RefusalGate>(listener_.fd, options_.refusals, options_.clock);
    }
  }

  ~HttpServerImpl() override {
    HttpServerImpl::Stop(Duration::zero());
    close(wake_fd_);
  }

  int port() const override { return listener_.port; }
  std::string address() const override { return listener_.address; }

  std::size_t open_connections() const override {
    std::lock_guard lock(mutex_);
    return connections_.size();
  }

  void Stop(Duration grace) override {
    std::lock_guard stop_lock(stop_mutex_);
    if (stopping_.exchange(true)) return;
    const std::uint64_t one = 1;
    // Can't fail: the counter is far from its maximum.
    [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof(one));
    acceptor_.join();
    gate_.reset();
    close(listener_.fd);
    {
      std::unique_lock lock(mutex_);
      for (const auto& [number, control] : connections_) {
        if (control->state() != ConnectionControl::State::kBusy) control->EndNow();
      }
      ended_.wait_for(lock, grace, [this] { return connections_.empty(); });
      for (const auto& [number, control] : connections_) control->EndNow();
    }
    threads_.Shutdown();
  }

 private:
  void Accept() {
    pollfd entries[2] = {{listener_.fd, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    while (!stopping_) {
      if (poll(entries, 2, -1) < 0) continue;
      if (entries[0].revents == 0) continue;
      // Not inherited by the programs that `exec` starts.
      const int fd = accept4(listener_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        Dispatch(fd);
      } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        // No descriptor or memory left: the connection stays in the backlog until others have closed.
        pollfd stop{wake_fd_, POLLIN, 0};
        poll(&stop, 1, kExhaustedMs);
      }
    }
  }

  void Dispatch(int fd) {
    const auto control = std::make_shared<ConnectionControl>(fd, stopping_);
    const AcceptAction action = options_.on_accept ? options_.on_accept() : AcceptAction::kServe;
    if (action == AcceptAction::kReset) {
      ConnectionStream stream(fd, control, options_.clock);
      stream.CloseRst();
      return;
    }
    std::uint64_t number = 0;
    bool refuse = false;
    {
      std::lock_guard lock(mutex_);
      number = ++last_number_;
      refuse = connections_.size() >= options_.connections_max;
      if (refuse) {
        if (refusals_ < kRefusalsMax) {
          ++refusals_;
        } else {
          number = 0;
        }
      } else {
        connections_.emplace(number, control);
      }
    }
    bool running = false;
    if (refuse) {
      running = number != 0 && threads_.Run([this, fd, control] { Refuse(fd, control); });
    } else {
      const bool hangs = action == AcceptAction::kHang;
      running = threads_.Run(
          [this, fd, control, number, hangs] { hangs ? Hang(fd, control, number) : Serve(fd, control, number); });
      if (!running) Forget(number);
    }
    if (running) return;
    ConnectionStream stream(fd, control, options_.clock);
    stream.CloseRst();
  }

  void Forget(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    connections_.erase(number);
    if (connections_.empty()) ended_.notify_all();
  }

  void Refuse(int fd, const std::shared_ptr<ConnectionControl>& control) {
    {
      ConnectionStream stream(fd, control, options_.clock);
      ExecutePlan(stream, MakeReply(replies_.over_limit, 503), {.close_after = true, .linger = true});
    }
    std::lock_guard lock(mutex_);
    --refusals_;
  }

  void Serve(int fd, const std::shared_ptr<ConnectionControl>& control, std::uint64_t number) {
    {
      ConnectionStream stream(fd, control, options_.clock);
      try {
        while (ServeOne(stream, number)) {
        }
      } catch (...) {
        // A plan's source or callback threw in the middle of a reply: nothing more can be said on this connection.
        stream.CloseRst();
      }
    }
    Forget(number);
  }

  void Hang(int fd, const std::shared_ptr<ConnectionControl>& control, std::uint64_t number) {
    {
      ConnectionStream stream(fd, control, options_.clock);
      control->SetState(ConnectionControl::State::kSilent);
      stream.WaitClosed("hang");
    }
    Forget(number);
  }

  // One request; false: the connection is over.
  bool ServeOne(ConnectionStream& stream, std::uint64_t number) {
    if (stream.buffered().empty()) {
      stream.control().SetState(ConnectionControl::State::kIdle);
      if (stream.ReadMore(stream.clock().Now() + options_.keep_alive, "next request") != IoResult::kOk) return false;
    }
    stream.control().SetState(ConnectionControl::State::kBusy);
    RequestHead head;
    const ReadOutcome outcome = reader_.Read(stream, &head);
    const ExchangeRules rejected = {.close_after = true, .linger = true};
    switch (outcome) {
      case ReadOutcome::kRequest:
        break;
      case ReadOutcome::kClosed:
        return false;
      case ReadOutcome::kMalformed:
        return ExecutePlan(stream, MakeReply(replies_.bad_request, 400), rejected);
      case ReadOutcome::kTargetTooLong:
        return ExecutePlan(stream, PlainText(414, true), rejected);
      case ReadOutcome::kHeadTooLong:
        return ExecutePlan(stream, PlainText(431, true), rejected);
      case ReadOutcome::kBodyTooLong:
        return ExecutePlan(stream, MakeReply(replies_.too_large, 413), rejected);
    }
    head.request.connection = number;
    Handled handled = Handle(head.request);
    stream.UseClock(std::move(handled.clock));
    const ExchangeRules rules = {.head_request = head.request.method == "HEAD", .close_after = head.close};
    return ExecutePlan(stream, std::move(handled.plan), rules) && !stopping_;
  }

  Handled Handle(const Request& request) {
    std::string what = "unknown";
    try {
      return handler_(request);
    } catch (const std::exception& exception) {
      what = exception.what();
    } catch (...) {
    }
    if (options_.on_exception) options_.on_exception(request, what);
    return {PlainText(500, false), nullptr};
  }

  const HttpServerOptions options_;
  const Handler handler_;
  const HttpServerReplies replies_;
  const Listener listener_;
  const int wake_fd_;
  RequestReader reader_;
  std::atomic<bool> stopping_ = false;
  std::mutex stop_mutex_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::unordered_map<std::uint64_t, std::shared_ptr<ConnectionControl>> connections_;
  std::uint64_t last_number_ = 0;
  std::size_t refusals_ = 0;
  ElasticThreads threads_;
  std::unique_ptr<RefusalGate> gate_;
  std::thread acceptor_;  // last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options, Handler handler,
                                                      HttpServerReplies replies) {
  Result<Listener> listener =
      options.refusals.empty() ? Listen(options.host, options.port) : ListenPausable(options.host, options.port);
  if (!listener) return std::move(listener).error();
  if (options.clock == nullptr) {
    options.clock = std::shared_ptr<Clock>(std::shared_ptr<Clock>(), &SystemClock::Instance());
  }
  return std::unique_ptr<HttpServer>(std::make_unique<HttpServerImpl>(std::move(options), std::move(handler),
                                                                      std::move(replies), *std::move(listener)));
}

}  // namespace opensandbox::emulator
