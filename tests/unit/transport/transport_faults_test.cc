// What the transport reports when the network or the server misbehaves.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <stop_token>
#include <thread>

#include "tests/unit/transport/transport_fixture.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::FailsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::RawServer;
using ::testing::SizeIs;

class TransportFaultsTest : public TransportTest {
 protected:
  // Asks the exchange to stop as soon as it waits for something that never comes.
  std::jthread StopOnceItWaits(std::stop_source& source) {
    return std::jthread([this, &source] {
      const auto waits = [this] {
        const auto pending = clock_.PendingDeadlines();
        return std::any_of(pending.begin(), pending.end(),
                           [](const auto& p) { return p.label.starts_with("client "); });
      };
      while (!waits()) std::this_thread::yield();
      source.request_stop();
    });
  }
};

TEST_F(TransportFaultsTest, ARefusedConnectionDidNotHappen) {
  Serve([](Peer&) {});
  const HttpRequest request = Get();
  server_.reset();
  EXPECT_THAT(transport_->Send(request, {}),
              FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kDidNotHappen), StatusIs(0),
                                                     Field(&Error::message, HasSubstr("refused")))));
}

TEST_F(TransportFaultsTest, AnUnknownHostDidNotHappen) {
  // .invalid never resolves (RFC 6761, 6.4).
  EXPECT_THAT(transport_->Send({.method = "GET", .url = "http://host.invalid/"}, {}),
              FailsWith(ErrorKind::kTransport,
                        AllOf(OutcomeIs(Outcome::kDidNotHappen), Field(&Error::message, HasSubstr("host.invalid")))));
  const auto real_time = MakeHttplibTransport();
  EXPECT_THAT(real_time->Send({.method = "GET", .url = "http://host.invalid/"}, {}),
              FailsWith(ErrorKind::kTransport, OutcomeIs(Outcome::kDidNotHappen)));
}

// A listener whose backlog is full: the kernel leaves further connection attempts unanswered.
class FullBacklog {
 public:
  FullBacklog() : server_([](RawServer::Peer&) {}, {.backlog = 0, .accept = false}) {
    for (int& fd : fds_) {
      fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(server_.port());
      // In progress for ever, save for the first.
      (void)connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }
  }
  ~FullBacklog() {
    for (const int fd : fds_) close(fd);
  }
  HttpRequest Get() const { return {.method = "GET", .url = server_.url()}; }

 private:
  RawServer server_;
  int fds_[4];
};

TEST_F(TransportFaultsTest, AConnectionThatIsNotMadeInTimeIsAConnectTimeout) {
  const FullBacklog backlog;
  EXPECT_THAT(
      transport_->Send(backlog.Get(), {.deadline = clock_.Now() + 1h, .connect_timeout = 5s}),
      FailsWith(ErrorKind::kTimeout, AllOf(TimeoutClockIs(TimeoutClock::kConnect), OutcomeIs(Outcome::kDidNotHappen))));
  EXPECT_EQ(clock_.Elapsed(), 5s);
}

TEST_F(TransportFaultsTest, TheDeadlineHoldsWhileConnecting) {
  const FullBacklog backlog;
  EXPECT_THAT(
      transport_->Send(backlog.Get(), {.deadline = clock_.Now() + 3s, .connect_timeout = 5s}),
      FailsWith(ErrorKind::kTimeout, AllOf(TimeoutClockIs(TimeoutClock::kRequest), OutcomeIs(Outcome::kDidNotHappen))));
  EXPECT_EQ(clock_.Elapsed(), 3s);
}

TEST_F(TransportFaultsTest, CancellationEndsAConnectionAttempt) {
  const FullBacklog backlog;
  std::stop_source source;
  const std::jthread stopper = StopOnceItWaits(source);
  EXPECT_THAT(transport_->Send(backlog.Get(), {.stop = source.get_token()}),
              FailsWith(ErrorKind::kCancelled, OutcomeIs(Outcome::kDidNotHappen)));
}

TEST_F(TransportFaultsTest, WhatIsCancelledOrLateFromTheStartIsNotSent) {
  RawServer& server = ServeKeepAlive(Answer("x"));
  std::stop_source source;
  source.request_stop();
  EXPECT_THAT(Send({.stop = source.get_token()}), FailsWith(ErrorKind::kCancelled, OutcomeIs(Outcome::kDidNotHappen)));
  EXPECT_THAT(
      Send({.deadline = clock_.Now() - 1ns}),
      FailsWith(ErrorKind::kTimeout, AllOf(TimeoutClockIs(TimeoutClock::kRequest), OutcomeIs(Outcome::kDidNotHappen))));
  EXPECT_EQ(server.connections_count(), 0);
}

TEST_F(TransportFaultsTest, TheDeadlineEndsTheWaitForAnAnswer) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.WaitForClose();
  });
  EXPECT_THAT(Send({.deadline = clock_.Now() + 30s, .connect_timeout = 5s}),
              FailsWith(ErrorKind::kTimeout,
                        AllOf(TimeoutClockIs(TimeoutClock::kRequest), OutcomeIs(Outcome::kUnknown), StatusIs(0))));
  EXPECT_EQ(clock_.Elapsed(), 30s);
}

TEST_F(TransportFaultsTest, TheDeadlineEndsABodyHoweverBusyItIs) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.Send(kChunkedHead);
    while (peer.SleepFor(1s) && peer.Send("1\r\nx\r\n")) {
    }
  });
  const Streamed streamed = Stream({.deadline = clock_.Now() + 10s + 1ns, .idle_timeout = 5s});
  EXPECT_THAT(streamed.end,
              FailsWith(ErrorKind::kTimeout, AllOf(TimeoutClockIs(TimeoutClock::kRequest), OutcomeIs(Outcome::kUnknown),
                                                   StatusIs(200), Field(&Error::request_id, "req-7"))));
  EXPECT_EQ(streamed.body, "xxxxxxxxxx");
  EXPECT_EQ(clock_.Elapsed(), 10s + 1ns);
}

TEST_F(TransportFaultsTest, ASilenceUpToTheIdleTimeIsFine) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    for (const std::string piece : {kChunkedHead, "1\r\nx", "\r\n", "0\r\n", "\r\n"}) {
      if (!peer.SleepFor(10s - 1ns)) return;
      peer.Send(piece);
    }
    peer.WaitForClose();
  });
  EXPECT_THAT(Stream({.idle_timeout = 10s}).end, IsOk());
  EXPECT_EQ(clock_.Elapsed(), 50s - 5ns);
}

TEST_F(TransportFaultsTest, ALongerSilenceIsAnIdleTimeout) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string(kChunkedHead) + "1\r\nx\r\n");
    if (peer.SleepFor(10s + 1ns)) peer.Send("0\r\n\r\n");
    peer.WaitForClose();
  });
  const Streamed streamed = Stream({.deadline = clock_.Now() + 1h, .idle_timeout = 10s});
  EXPECT_THAT(streamed.end, FailsWith(ErrorKind::kTimeout, AllOf(TimeoutClockIs(TimeoutClock::kIdle),
                                                                 OutcomeIs(Outcome::kUnknown), StatusIs(200))));
  EXPECT_EQ(streamed.body, "x");
  EXPECT_EQ(clock_.Elapsed(), 10s);
}

TEST_F(TransportFaultsTest, TheIdleTimeHoldsBeforeTheFirstByteToo) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.WaitForClose();
  });
  EXPECT_THAT(Send({.idle_timeout = 7s}), FailsWith(ErrorKind::kTimeout, TimeoutClockIs(TimeoutClock::kIdle)));
  EXPECT_EQ(clock_.Elapsed(), 7s);
}

TEST_F(TransportFaultsTest, ASpanOfForeverIsNone) {
  ServeKeepAlive(Answer("x"));
  EXPECT_THAT(Send({.deadline = TimePoint::max(), .connect_timeout = Duration::max(), .idle_timeout = Duration::max()}),
              IsOk());
}

TEST_F(TransportFaultsTest, CancellationEndsABlockedReadOfTheHead) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.WaitForClose();
  });
  std::stop_source source;
  const std::jthread stopper = StopOnceItWaits(source);
  EXPECT_THAT(Send({.stop = source.get_token()}),
              FailsWith(ErrorKind::kCancelled, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(0))));
}

TEST_F(TransportFaultsTest, CancellationEndsABlockedReadOfTheBodyInRealTime) {
  std::latch body_began(1);
  std::atomic<bool> closed = false;
  {
    const RawServer server([&](RawServer::Peer& peer) {
      peer.ReadRequest();
      peer.Send(std::string(kChunkedHead) + "1\r\nx\r\n");
      peer.WaitForClose();
      closed = true;
    });
    std::stop_source source;
    const std::jthread stopper([&] {
      body_began.wait();
      source.request_stop();
    });
    StreamHandler handler;
    handler.on_bytes = [&](std::string_view) {
      body_began.count_down();
      return StreamAction::kContinue;
    };
    const auto transport = MakeHttplibTransport();
    EXPECT_THAT(transport->Stream({.method = "GET", .url = server.url()}, {.stop = source.get_token()}, handler),
                FailsWith(ErrorKind::kCancelled, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(200))));
  }
  EXPECT_TRUE(closed);
}

TEST_F(TransportFaultsTest, CancellationEndsAStreamThatNeverPauses) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(1 << 16, 'x');
    while (peer.Send(block)) {
    }
  });
  std::stop_source source;
  std::size_t total = 0;
  StreamHandler handler;
  handler.on_bytes = [&](std::string_view bytes) {
    total += bytes.size();
    if (total >= 1 << 20) source.request_stop();
    return StreamAction::kContinue;
  };
  EXPECT_THAT(transport_->Stream(Get(), {.stop = source.get_token()}, handler), FailsWith(ErrorKind::kCancelled));
  EXPECT_LT(total, std::size_t{1 << 20} + (64 << 10));
}

TEST_F(TransportFaultsTest, CancellationEndsABlockedWrite) {
  Serve([](Peer& peer) { peer.SleepFor(1h); });
  std::stop_source source;
  const std::jthread stopper = StopOnceItWaits(source);
  const HttpRequest request{.method = "POST", .url = server_->url(), .body = std::string(64 << 20, 'x')};
  EXPECT_THAT(transport_->Send(request, {.stop = source.get_token()}),
              FailsWith(ErrorKind::kCancelled, OutcomeIs(Outcome::kUnknown)));
}

TEST_F(TransportFaultsTest, AConnectionThatEndsBeforeTheAnswerIsATransportErrorOfUnknownOutcome) {
  for (const bool reset : {false, true}) {
    Serve([reset](Peer& peer) {
      peer.ReadRequest();
      reset ? peer.Reset() : peer.Close();
    });
    EXPECT_THAT(Send(), FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(0))));
    EXPECT_THAT(Stream().end, FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(0))));
    EXPECT_THAT(server_->requests(), SizeIs(2));  // none was repeated
  }
}

TEST_F(TransportFaultsTest, AResetAfterTheHeadTruncatesTheBody) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string(kChunkedHead) + "1\r\nx\r\n");
    peer.SleepFor(1s);  // goes by only once the client has read all that
    peer.Reset();
  });
  const Streamed streamed = Stream();
  EXPECT_THAT(streamed.end, FailsWith(ErrorKind::kStreamTruncated, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(200),
                                                                         Field(&Error::request_id, "req-7"))));
  EXPECT_EQ(streamed.body, "x");
  EXPECT_THAT(Send(), FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(200))));
}

// The wire cut at every byte, each time with the part of the body that had come.
struct CutCase {
  std::string name;
  std::string wire;
  std::string body;
};
void PrintTo(const CutCase& c, std::ostream* os) { *os << c.name; }

class CutTest : public TransportTest, public ::testing::WithParamInterface<CutCase> {};

TEST_P(CutTest, IsSeenAtEveryByte) {
  const std::string& wire = GetParam().wire;
  const std::size_t head_size = wire.find("\r\n\r\n") + 4;
  ASSERT_GT(wire.size(), head_size);
  std::size_t longest = 0;
  for (std::size_t cut = 0; cut < wire.size(); ++cut) {
    SCOPED_TRACE("after " + std::to_string(cut) + " bytes");
    ServeBytes(wire.substr(0, cut));
    const Streamed streamed = Stream();
    if (cut < head_size) {
      ASSERT_THAT(streamed.end, FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(0))));
      ASSERT_EQ(streamed.headers_calls_count, 0);
      continue;
    }
    ASSERT_THAT(streamed.end,
                FailsWith(ErrorKind::kStreamTruncated, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(200))));
    ASSERT_EQ(streamed.headers_calls_count, 1);
    ASSERT_TRUE(GetParam().body.starts_with(streamed.body)) << streamed.body;
    ASSERT_GE(streamed.body.size(), longest);
    longest = streamed.body.size();
    ASSERT_THAT(Send(), FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(200))));
  }
  EXPECT_EQ(longest, GetParam().body.size() - (GetParam().name == "Length" ? 1 : 0));
  ServeBytes(wire);
  const Streamed whole = Stream();
  EXPECT_THAT(whole.end, IsOk());
  EXPECT_EQ(whole.body, GetParam().body);
}

INSTANTIATE_TEST_SUITE_P(
    , CutTest,
    ::testing::Values(CutCase{"Chunked",
                              kChunkedHead + std::string("6\r\nfirst\n\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n"
                                                         "3;x=y\r\nend\r\n0\r\n\r\n"),
                              "first\nabcdefghijklmnopqrstuvwxyzend"},
                      CutCase{"ChunkedWithTrailer", kChunkedHead + std::string("1\r\nx\r\n0\r\nX: y\r\n\r\n"), "x"},
                      CutCase{"Length", Answer("0123456789"), "0123456789"}),
    [](const auto& test) { return test.param.name; });

TEST_F(TransportFaultsTest, WhatIsNotHttpIsAProtocolError) {
  const std::string bad[] = {
      "garbage garbage garbage\r\n\r\n",
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/1.1 two hundred\r\n\r\n",
      std::string("HTTP/1.1 200 OK\r\nX: ").append(1 << 20, 'x'),
      "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: br\r\n\r\nx",
  };
  for (const std::string& wire : bad) {
    // Kept open: the transport must not need the end to notice.
    Serve([wire](Peer& peer) {
      peer.ReadRequest();
      peer.Send(wire);
      peer.WaitForClose();
    });
    SCOPED_TRACE(wire.substr(0, 60));
    EXPECT_THAT(Send({.deadline = clock_.Now() + 1s}), FailsWith(ErrorKind::kProtocol, OutcomeIs(Outcome::kUnknown)));
    EXPECT_THAT(Stream({.deadline = clock_.Now() + 1s}).end, FailsWith(ErrorKind::kProtocol));
  }
}

TEST_F(TransportFaultsTest, ABrokenChunkIsAProtocolErrorAfterWhatCameBefore) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string(kChunkedHead) + "5\r\nhello\r\n-2\r\nworld");
    peer.WaitForClose();
  });
  const Streamed streamed = Stream();
  EXPECT_THAT(streamed.end, FailsWith(ErrorKind::kProtocol, AllOf(StatusIs(200), Field(&Error::request_id, "req-7"))));
  EXPECT_EQ(streamed.body, "hello");
}

TEST_F(TransportFaultsTest, ALongStatusLineDoesNoHarm) {
  // 60,000 characters through httplib's recursive regular expression would overflow the stack.
  ServeBytes(std::string("HTTP/1.1 200 ").append(60000, 'x').append("\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_THAT(Send(), IsOk());
}

TEST_F(TransportFaultsTest, AnEndlessChunkSizeLineIsRefused) {
  Serve([](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string(kChunkedHead) + "1;");
    const std::string block(1 << 16, 'x');
    while (peer.Send(block)) {
    }
  });
  EXPECT_THAT(Send(), FailsWith(ErrorKind::kProtocol));
}

TEST_F(TransportFaultsTest, ACloseThatCrossesARequestOnAUsedConnectionIsOfUnknownOutcome) {
  RawServer& server = Serve([](Peer& peer) {
    if (!peer.ReadRequest()) return;
    peer.Send(Answer("x"));
    if (peer.index() == 0) {
      peer.ReadRequest();  // and close
      return;
    }
    peer.WaitForClose();
  });
  ASSERT_THAT(Send(), IsOk());
  EXPECT_THAT(Send(), FailsWith(ErrorKind::kTransport, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(0))));
  EXPECT_THAT(server.requests(), SizeIs(2));
  EXPECT_EQ(server.connections_count(), 1);
  EXPECT_THAT(Send(), IsOk());  // and it has recovered
}

TEST_F(TransportFaultsTest, AnAnswerBeforeTheEndOfTheRequestIsRead) {
  Serve([](Peer& peer) {
    peer.Receive();
    peer.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    peer.Close();  // with unread bytes, which makes it a reset
  });
  const HttpRequest request{.method = "POST", .url = server_->url(), .body = std::string(64 << 20, 'x')};
  const auto response = transport_->Send(request, {});
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(response->body, "no");
}

TEST_F(TransportFaultsTest, RecoversAfterEveryKindOfFailure) {
  RawServer& server = Serve([](Peer& peer) {
    if (!peer.ReadRequest()) return;
    switch (peer.index()) {
      case 0:
        return peer.Reset();
      case 1:
        peer.Send("nonsense");
        return;
      case 2:
        peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx");
        return;
      case 3:
        return peer.WaitForClose();
      default:
        peer.Send(Answer("fine"));
    }
  });
  EXPECT_THAT(Send(), FailsWith(ErrorKind::kTransport));
  EXPECT_THAT(Send(), FailsWith(ErrorKind::kProtocol));
  EXPECT_THAT(Send(), FailsWith(ErrorKind::kTransport));
  EXPECT_THAT(Send({.deadline = clock_.Now() + 1s}), FailsWith(ErrorKind::kTimeout));
  EXPECT_THAT(Send(), IsOk());
  EXPECT_EQ(server.connections_count(), 5);
}

TEST_F(TransportFaultsTest, TheSameRunTakesTheSameVirtualTimeEveryTime) {
  // Were a byte under way overlooked, a timeout would now and then fire in place of an answer.
  for (int round = 0; round < 200; ++round) {
    VirtualClock clock;
    const Participant me(clock);
    const RawServer server(
        [](RawServer::Peer& peer) {
          while (peer.ReadRequest()) {
            if (!peer.SleepFor(999ms) || !peer.Send("HTTP/1.1 200 OK\r\n") || !peer.SleepFor(999ms)) return;
            peer.Send("Content-Length: 1\r\n\r\nx");
          }
        },
        {.clock = &clock});
    const auto transport = MakeHttplibTransport({.clock = &clock});
    for (int i = 0; i < 3; ++i) {
      ASSERT_THAT(transport->Send({.method = "GET", .url = server.url()},
                                  {.deadline = clock.Now() + 2s, .connect_timeout = 1ms, .idle_timeout = 1s}),
                  IsOk())
          << "round " << round;
    }
    ASSERT_EQ(clock.Elapsed(), 3 * 1998ms) << "round " << round;
  }
}

}  // namespace
}  // namespace opensandbox
