// What the transport does when the network behaves.
#include "opensandbox/transport/httplib_transport.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <stdexcept>
#include <thread>

#include "tests/unit/transport/transport_fixture.h"

namespace opensandbox {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FailsWith;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Le;
using testing::RawServer;
using ::testing::SizeIs;
using ::testing::StartsWith;

class HttplibTransportTest : public TransportTest {};

TEST_F(HttplibTransportTest, SendsTheExactRequestAndReadsTheAnswer) {
  RawServer& server = ServeBytes("HTTP/1.1 201 Created\r\nX-A: 1\r\nx-a: %32\r\nContent-Length: 3\r\n\r\nabc");
  const auto response = transport_->Send(
      {.method = "POST", .url = server.url("/a%2Fb/../c?d=%20"), .headers = {{"X-Key", "k"}}, .body = "hi"}, {});
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "abc");
  EXPECT_THAT(response->headers,
              ElementsAre(HeaderField{"X-A", "1"}, HeaderField{"x-a", "%32"}, HeaderField{"Content-Length", "3"}));
  EXPECT_THAT(server.requests(),
              ElementsAre("POST /a%2Fb/../c?d=%20 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                          "\r\nUser-Agent: opensandbox-cpp/0.1.0\r\nAccept-Encoding: identity\r\n"
                          "Connection: keep-alive\r\nX-Key: k\r\nContent-Length: 2\r\n\r\nhi"));
}

TEST_F(HttplibTransportTest, AnErrorStatusIsASuccess) {
  for (const char* status : {"400 Bad Request", "404 Not Found", "500 Internal Server Error", "599 X"}) {
    ServeBytes(std::string("HTTP/1.1 ").append(status).append("\r\nContent-Length: 2\r\n\r\n{}"));
    const auto response = Send();
    ASSERT_THAT(response, IsOk());
    EXPECT_EQ(response->status, std::atoi(status));
    EXPECT_EQ(response->body, "{}");
  }
}

TEST_F(HttplibTransportTest, DoesNotFollowARedirect) {
  RawServer& server = ServeKeepAlive("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 4\r\n\r\nmove");
  const auto response = Send();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(response->body, "move");
  EXPECT_EQ(FindHeader(response->headers, "location"), "/elsewhere");
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(HttplibTransportTest, DoesNotDecodeContent) {
  ServeBytes(Answer("\x1f\x8bnot really gzip", "Content-Encoding: gzip\r\n"));
  const auto response = Send();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->body, "\x1f\x8bnot really gzip");
}

TEST_F(HttplibTransportTest, ReadsEveryFramingOfABody) {
  for (const std::string& wire :
       {Answer("hello"), std::string("HTTP/1.1 200 OK\r\n\r\nhello"), std::string("HTTP/1.0 200 OK\r\n\r\nhello"),
        kChunkedHead + std::string("2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"),
        std::string("HTTP/1.1 100 Continue\r\n\r\n").append(Answer("hello"))}) {
    ServeBytes(wire);
    const auto response = Send();
    ASSERT_THAT(response, IsOk()) << wire;
    EXPECT_EQ(response->body, "hello") << wire;
  }
}

TEST_F(HttplibTransportTest, AnAnswerWithoutABodyEndsWithItsHead) {
  // The server keeps the connection open, so whoever waits for a body waits for ever.
  for (const char* status : {"204 No Content", "304 Not Modified"}) {
    ServeKeepAlive(std::string("HTTP/1.1 ").append(status).append("\r\nX-A: 1\r\n\r\n"));
    const Streamed streamed = Stream({.deadline = clock_.Now() + std::chrono::seconds(1)});
    ASSERT_THAT(streamed.end, IsOk());
    EXPECT_EQ(streamed.end->status, std::atoi(status));
    EXPECT_EQ(streamed.headers_calls_count, 1);
    EXPECT_EQ(streamed.status, std::atoi(status));
  }
  ServeKeepAlive("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  const auto head =
      transport_->Send({.method = "HEAD", .url = server_->url()}, {.deadline = clock_.Now() + std::chrono::seconds(1)});
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(FindHeader(head->headers, "Content-Length"), "100");
}

TEST_F(HttplibTransportTest, UsesAConnectionAgain) {
  RawServer& server = ServeKeepAlive(Answer("x"));
  for (int i = 0; i < 5; ++i) ASSERT_THAT(Send(), IsOk());
  EXPECT_THAT(server.requests(), SizeIs(5));
  EXPECT_EQ(server.connections_count(), 1);
}

TEST_F(HttplibTransportTest, UsesNoConnectionAgainThatTheAnswerEnded) {
  for (const std::string& wire : {Answer("x", "Connection: close\r\n"), Answer("x") + "surplus"}) {
    RawServer& server = ServeKeepAlive(wire);
    for (int i = 0; i < 2; ++i) ASSERT_THAT(Send(), IsOk());
    EXPECT_EQ(server.connections_count(), 2) << wire;
  }
}

TEST_F(HttplibTransportTest, WithoutIdleConnectionsEachRequestHasItsOwn) {
  Make({.idle_connections_max = 0});
  RawServer& server = ServeKeepAlive(Answer("x"));
  for (int i = 0; i < 2; ++i) ASSERT_THAT(Send(), IsOk());
  EXPECT_EQ(server.connections_count(), 2);
  EXPECT_THAT(server.requests(), Each(HasSubstr("\r\nConnection: close\r\n")));
}

TEST_F(HttplibTransportTest, ReplacesAConnectionThatTheServerHasClosedMeanwhile) {
  RawServer& server = ServeBytes(Answer("x"));  // closes behind the answer without saying so
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(Send(), IsOk());
    clock_.SleepFor(std::chrono::seconds(1));  // until everything has come to rest
  }
  EXPECT_EQ(server.connections_count(), 3);
}

TEST_F(HttplibTransportTest, AConnectionThatWasIdleForLongIsNotTrusted) {
  RawServer& server = ServeKeepAlive(Answer("x"));
  ASSERT_THAT(Send(), IsOk());
  clock_.SleepFor(std::chrono::seconds(4));
  ASSERT_THAT(Send(), IsOk());
  EXPECT_EQ(server.connections_count(), 1);
  clock_.SleepFor(std::chrono::seconds(4) + Duration(1));
  ASSERT_THAT(Send(), IsOk());
  EXPECT_EQ(server.connections_count(), 2);
}

TEST_F(HttplibTransportTest, AStreamComesInPiecesAsTheyArrive) {
  Serve([](Peer& peer) {
    if (!peer.ReadRequest()) return;
    peer.Send(kChunkedHead);
    for (int i = 0; i < 3; ++i) {
      peer.SleepFor(std::chrono::seconds(10));
      peer.Send("4\r\nline\r\n");
    }
    peer.SleepFor(std::chrono::seconds(10));
    peer.Send("0\r\n\r\n");
    peer.WaitForClose();
  });
  std::vector<std::string> trace;
  const auto note = [&](std::string_view what) {
    trace.push_back(std::to_string(clock_.Elapsed() / std::chrono::seconds(1)).append(" ").append(what));
  };
  StreamHandler handler;
  handler.on_headers = [&](int status, const std::vector<HeaderField>&) {
    note(std::to_string(status));
    return StreamAction::kContinue;
  };
  handler.on_bytes = [&](std::string_view bytes) {
    note(bytes);
    return StreamAction::kContinue;
  };
  const auto end = transport_->Stream(Get(), {}, handler);
  ASSERT_THAT(end, IsOk());
  note("end");
  EXPECT_FALSE(end->stopped_by_handler);
  EXPECT_THAT(trace, ElementsAre("0 200", "10 line", "20 line", "30 line", "40 end"));
}

TEST_F(HttplibTransportTest, AHandlerMayStopAtTheHeaders) {
  std::atomic<bool> closed = false;
  Serve([&](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string(kChunkedHead) + "4\r\nline\r\n");
    peer.WaitForClose();
    closed = true;
  });
  StreamHandler handler;
  handler.on_headers = [](int, const std::vector<HeaderField>&) { return StreamAction::kStop; };
  handler.on_bytes = [](std::string_view) -> StreamAction { throw std::logic_error("called after the stop"); };
  const auto end = transport_->Stream(Get(), {}, handler);
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->stopped_by_handler);
  EXPECT_EQ(end->status, 200);
  EXPECT_EQ(FindHeader(end->headers, "X-Request-ID"), "req-7");
  clock_.SleepFor(std::chrono::seconds(1));  // goes by only once the server has seen the close
  EXPECT_TRUE(closed);
}

TEST_F(HttplibTransportTest, AHandlerMayStopAtAnyPiece) {
  std::atomic<bool> closed = false;
  Serve([&](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string(kChunkedHead));
    while (peer.Send("4\r\nline\r\n") && peer.SleepFor(std::chrono::seconds(1))) {
    }
    closed = true;
  });
  int pieces = 0;
  StreamHandler handler;
  handler.on_bytes = [&](std::string_view) { return ++pieces == 3 ? StreamAction::kStop : StreamAction::kContinue; };
  const auto end = transport_->Stream(Get(), {}, handler);
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->stopped_by_handler);
  EXPECT_EQ(pieces, 3);
  clock_.SleepFor(std::chrono::minutes(1));
  EXPECT_TRUE(closed);
}

TEST_F(HttplibTransportTest, AHandlersExceptionPassesThroughAndClosesTheConnection) {
  RawServer& server = ServeKeepAlive(Answer("x"));
  StreamHandler throws_at_bytes;
  throws_at_bytes.on_bytes = [](std::string_view) -> StreamAction { throw std::runtime_error("mine"); };
  StreamHandler throws_at_headers;
  throws_at_headers.on_headers = [](int, const std::vector<HeaderField>&) -> StreamAction {
    throw std::runtime_error("mine");
  };
  EXPECT_THROW((void)transport_->Stream(Get(), {}, throws_at_bytes), std::runtime_error);
  EXPECT_THROW((void)transport_->Stream(Get(), {}, throws_at_headers), std::runtime_error);
  EXPECT_THAT(Send(), IsOk());
  EXPECT_EQ(server.connections_count(), 3);
}

TEST_F(HttplibTransportTest, ALargeBodyIsStreamedExactlyAndInSmallPieces) {
  constexpr std::size_t kTotal = 64 << 20;
  const auto byte_at = [](std::size_t i) { return static_cast<char>((i * 2654435761u) >> 13); };
  Serve([&](Peer& peer) {
    peer.ReadRequest();
    peer.Send(std::string("HTTP/1.1 200 OK\r\nContent-Length: ").append(std::to_string(kTotal)).append("\r\n\r\n"));
    std::string block(1 << 20, '\0');
    for (std::size_t at = 0; at < kTotal; at += block.size()) {
      for (std::size_t i = 0; i < block.size(); ++i) block[i] = byte_at(at + i);
      if (!peer.Send(block)) return;
    }
    peer.WaitForClose();
  });
  std::size_t total = 0;
  std::size_t largest = 0;
  std::size_t wrong = 0;
  StreamHandler handler;
  handler.on_bytes = [&](std::string_view bytes) {
    largest = std::max(largest, bytes.size());
    for (const char c : bytes) wrong += c != byte_at(total++);
    return StreamAction::kContinue;
  };
  EXPECT_THAT(transport_->Stream(Get(), {}, handler), IsOk());
  EXPECT_EQ(total, kTotal);
  EXPECT_EQ(wrong, 0u);
  EXPECT_THAT(largest, Le(16u << 10));
}

TEST_F(HttplibTransportTest, ALargeRequestBodyArrivesExactly) {
  std::string body(8 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 >> 3);
  RawServer& server = ServeKeepAlive(Answer("ok"));
  ASSERT_THAT(transport_->Send({.method = "POST", .url = server.url(), .body = body}, {}), IsOk());
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_TRUE(requests[0].ends_with(body));
  EXPECT_THAT(requests[0].size(), Le(body.size() + 500));
}

TEST_F(HttplibTransportTest, LimitsTheBodyOfSend) {
  for (const std::size_t size : {999u, 1000u, 1001u}) {
    for (const bool chunked : {false, true}) {
      const std::string body(size, 'x');
      char chunk_size[16];
      std::snprintf(chunk_size, sizeof(chunk_size), "%zx\r\n", size);
      ServeBytes(chunked ? kChunkedHead + (chunk_size + body) + "\r\n0\r\n\r\n" : Answer(body));
      const auto response = Send({.response_bytes_max = 1000});
      if (size <= 1000) {
        ASSERT_THAT(response, IsOk());
        EXPECT_EQ(response->body, body);
      } else {
        EXPECT_THAT(response, FailsWith(ErrorKind::kProtocol, AllOf(OutcomeIs(Outcome::kUnknown), StatusIs(200))));
      }
    }
  }
  ServeBytes(Answer(""));
  EXPECT_THAT(Send({.response_bytes_max = 0}), IsOk());
}

TEST_F(HttplibTransportTest, LimitsTheHead) {
  Make({.head_bytes_max = 1000});
  for (const std::size_t size : {999u, 1000u, 1001u}) {
    std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
    head += std::string(size - head.size() - 4, 'x') + "\r\n\r\n";
    ServeBytes(head);
    if (size <= 1000) {
      EXPECT_THAT(Send(), IsOk());
    } else {
      EXPECT_THAT(Send(), FailsWith(ErrorKind::kProtocol, OutcomeIs(Outcome::kUnknown)));
    }
  }
}

TEST_F(HttplibTransportTest, ReadsHeaderLinesAsLongAsTheHeadMayBe) {
  ServeBytes(Answer("x", std::string("X-Long: ").append(60000, 'y').append("\r\n")));
  const auto response = Send();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(FindHeader(response->headers, "X-Long")->size(), 60000u);
}

TEST_F(HttplibTransportTest, ReachesAnIpv6Literal) {
  RawServer& server = Serve(
      [](Peer& peer) {
        if (peer.ReadRequest()) peer.Send(Answer("six"));
      },
      true);
  const auto response = Send();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->body, "six");
  EXPECT_THAT(server.requests(), ElementsAre(HasSubstr("\r\nHost: [::1]:" + std::to_string(server.port()) + "\r\n")));
}

TEST_F(HttplibTransportTest, LocalhostIsTriedInBothFamilies) {
  for (const bool ipv6 : {false, true}) {
    RawServer& server = Serve(
        [](Peer& peer) {
          if (peer.ReadRequest()) peer.Send(Answer("x"));
        },
        ipv6);
    const std::string url = "http://localhost:" + std::to_string(server.port()) + "/";
    EXPECT_THAT(transport_->Send({.method = "GET", .url = url}, {}), IsOk());
  }
}

TEST_F(HttplibTransportTest, RefusesABadRequestWithoutSendingAnything) {
  RawServer& server = ServeKeepAlive(Answer("x"));
  const HttpRequest bad[] = {
      {.method = "GET", .url = "nonsense"},
      {.method = "GET", .url = server.url("/a b")},
      {.method = "G T", .url = server.url()},
      {.method = "GET", .url = server.url(), .headers = {{"X", "a\r\nb"}}},
  };
  for (const HttpRequest& request : bad) {
    EXPECT_THAT(transport_->Send(request, {}),
                FailsWith(ErrorKind::kInvalidArgument, OutcomeIs(Outcome::kDidNotHappen)));
  }
  EXPECT_EQ(server.connections_count(), 0);
}

TEST(HttplibTransportThreadsTest, ManyThreadsSendAtOnce) {
  constexpr int kThreads = 16;
  constexpr int kRequests = 25;
  // Echoes the path, so a mixed-up answer shows.
  RawServer server([](RawServer::Peer& peer) {
    while (const auto request = peer.ReadRequest()) {
      const std::string path = request->substr(4, request->find(" HTTP") - 4);
      if (!peer.Send(Answer(path))) return;
    }
  });
  const auto transport = MakeHttplibTransport();
  EXPECT_EQ(&transport->clock(), &SystemClock::Instance());
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRequests; ++i) {
          const std::string path = std::string("/").append(std::to_string(t * kRequests + i));
          const auto response = transport->Send({.method = "GET", .url = server.url(path)}, {});
          if (response && response->body == path) ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, kThreads * kRequests);
}

TEST(HttplibTransportThreadsTest, ManyThreadsSendAtOnceInVirtualTime) {
  VirtualClock clock;
  Participant me(clock);
  RawServer server(
      [](RawServer::Peer& peer) {
        while (peer.ReadRequest()) {
          peer.SleepFor(std::chrono::seconds(30));
          if (!peer.Send(Answer("x"))) return;
        }
      },
      {.clock = &clock});
  const auto transport = MakeHttplibTransport({.clock = &clock});
  std::atomic<int> right = 0;
  std::latch joined(9);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      Participant participant(clock);
      joined.arrive_and_wait();
      for (int i = 0; i < 5; ++i) right += transport->Send({.method = "GET", .url = server.url()}, {}).has_value();
    });
  }
  joined.arrive_and_wait();
  clock.SleepFor(std::chrono::seconds(150) + Duration(1));
  // Eight at a time, five after each other, 30 s each.
  EXPECT_EQ(right, 40);
  EXPECT_EQ(clock.Elapsed(), std::chrono::seconds(150) + Duration(1));
}

}  // namespace
}  // namespace opensandbox
