#include "emulator/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "test_server.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

HttpServerReplies NamedReplies() {
  const auto named = [](const char* name, int status) { return [name, status] { return TextPlan(name, status); }; };
  return {named("bad", 400), named("large", 413), named("limit", 503)};
}

TestServerOptions WithReplies() {
  TestServerOptions options;
  options.replies = NamedReplies();
  return options;
}

std::string Post(const std::string& body, const std::string& headers = "") {
  return "POST /x HTTP/1.1\r\nHost: x\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

std::string PostChunked(const std::string& body, std::size_t chunk_bytes) {
  std::string text = "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t begin = 0; begin < body.size(); begin += chunk_bytes) {
    const std::string chunk = body.substr(begin, chunk_bytes);
    char header[20];
    snprintf(header, sizeof(header), "%zx\r\n", chunk.size());
    text += header + chunk + "\r\n";
  }
  return text + "0\r\n\r\n";
}

TEST(HttpServerTest, GivesTheHandlerTheRequestAsItCame) {
  TestServer server;
  RawClient client = server.Connect();
  client.Send(
      "PATCH /a%2Fb/c?q=%41&q HTTP/1.1\r\nhost: y\r\nX-Two: 2\r\nX-One: a%41b\r\nX-Two: 1\r\n"
      "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=b&c=d");
  client.ReadBytes(TextReply("ok").size());
  ASSERT_THAT(server.requests(), SizeIs(1));
  const Request request = server.requests()[0];
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/a%2Fb/c?q=%41&q");
  EXPECT_EQ(request.path, "/a%2Fb/c");
  EXPECT_EQ(request.query, "q=%41&q");
  EXPECT_THAT(request.headers,
              ElementsAre(Header{"host", "y"}, Header{"X-Two", "2"}, Header{"X-One", "a%41b"}, Header{"X-Two", "1"},
                          Header{"Content-Type", "application/x-www-form-urlencoded"}, Header{"Content-Length", "7"}));
  EXPECT_EQ(request.body, "a=b&c=d");
  EXPECT_TRUE(request.has_body);
  EXPECT_EQ(request.peer, "127.0.0.1:" + std::to_string(client.port()));
  EXPECT_EQ(request.local, server.http().address());
  EXPECT_EQ(request.connection, 1u);
  EXPECT_FALSE(request.tls);
}

TEST(HttpServerTest, EveryMethodReachesTheHandlerWithAndWithoutContent) {
  TestServer server;
  RawClient client = server.Connect();
  const std::vector<std::string> methods = {"GET",   "HEAD",    "POST",  "PUT",     "PATCH", "DELETE",
                                            "TRACE", "OPTIONS", "PURGE", "CONNECT", "get"};
  for (const std::string& method : methods) {
    for (const bool content : {false, true}) {
      const std::string fields = content ? "Content-Length: 3\r\n\r\nabc" : "\r\n";
      client.Send(method + " /x HTTP/1.1\r\nHost: x\r\n" + fields);
      const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
      EXPECT_EQ(client.ReadUntil("\r\n\r\n"), head);
      if (method != "HEAD") {
        EXPECT_EQ(client.ReadBytes(2), "ok");
      }
      const Request request = server.requests().back();
      EXPECT_EQ(request.method, method);
      EXPECT_EQ(request.body, content ? "abc" : "");
      EXPECT_EQ(request.has_body, content);
    }
  }
  EXPECT_THAT(server.requests(), SizeIs(2 * methods.size()));
}

TEST(HttpServerTest, AContentOfEncodedOrMultipartFormIsNotTouched) {
  TestServer server;
  RawClient client = server.Connect();
  for (const char* fields :
       {"Content-Encoding: gzip\r\n", "Content-Encoding: br\r\n", "Content-Type: multipart/form-data; boundary=x\r\n",
        "Content-Type: multipart/form-data\r\n", "Range: bytes=99-1\r\n", "Accept: ;;;q=2\r\n"}) {
    client.Send(Post("no gzip", fields));
    EXPECT_EQ(client.ReadBytes(TextReply("ok").size()), TextReply("ok")) << fields;
    EXPECT_EQ(server.requests().back().body, "no gzip");
  }
}

TEST(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  TestServer server;
  std::string requests, replies;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "reply " + std::to_string(i);
    server.Next(TextPlan(name));
    requests += i % 2 == 0 ? Get("/") : Post(std::string(1000, 'x'));
    replies += TextReply(name);
  }
  RawClient client = server.Connect();
  client.Send(requests);
  EXPECT_EQ(client.ReadBytes(replies.size()), replies);
}

TEST(HttpServerTest, ARequestSentAheadWaitsForTheReplyBefore) {
  TestServer server;
  ReplyPlan slow = TextPlan("slow");
  slow.delay_before_head = 10s;
  server.Next(std::move(slow));
  server.Next(TextPlan("fast"));
  RawClient client = server.Connect();
  client.Send(Get("/1"));
  server.clock().SleepFor(1s);
  client.Send(Get("/2"));
  EXPECT_EQ(client.ReadUntil("slow"), TextReply("slow"));
  EXPECT_EQ(client.ReadUntil("fast"), TextReply("fast"));
  EXPECT_EQ(server.clock().Elapsed(), 10s);
}

TEST(HttpServerTest, ASlowClientIsHeardByteByByte) {
  TestServer server;
  RawClient client = server.Connect();
  const std::string request = PostChunked("hello world", 4);
  for (const char c : request) {
    server.clock().SleepFor(29s);
    client.Send(std::string(1, c));
  }
  EXPECT_EQ(client.ReadUntil("ok"), TextReply("ok"));
  EXPECT_EQ(server.requests().back().body, "hello world");
  EXPECT_EQ(server.clock().Elapsed(), 29s * request.size());
}

TEST(HttpServerTest, ClosesAnIdleConnectionAfterKeepAliveOnTheClock) {
  TestServer server;
  RawClient fresh = server.Connect();
  const Received first = fresh.ReadToEnd();
  EXPECT_EQ(first.end, StreamEnd::kFin);
  EXPECT_EQ(first.at, server.At(30s));
  fresh.Close();
  RawClient used = server.Connect();
  used.Send(Get("/"));
  used.ReadUntil("ok");
  server.clock().SleepFor(29s);
  used.Send(Get("/"));
  used.ReadUntil("ok");
  EXPECT_EQ(used.ReadToEnd().at, server.At(30s + 29s + 30s));
}

TEST(HttpServerTest, ClosesAConnectionThatFallsSilentInsideARequest) {
  TestServer server;
  for (const char* part : {"GET / HT", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc"}) {
    const TimePoint start = server.clock().Now();
    RawClient client = server.Connect();
    client.Send(part);
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes, "");
    EXPECT_EQ(received.end, StreamEnd::kFin);
    EXPECT_EQ(received.at - start, 30s);
  }
  server.ExpectAlive();
}

TEST(HttpServerTest, ClosesWhenTheRequestSaysSo) {
  TestServer server;
  for (const std::string& request : {Get("/", "Connection: close\r\n"), std::string("GET / HTTP/1.0\r\n\r\n"),
                                     std::string("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")}) {
    RawClient client = server.Connect();
    client.Send(request);
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes, TextReply("ok"));
    EXPECT_EQ(received.end, StreamEnd::kFin);
    EXPECT_EQ(received.at, server.At(0s));
  }
}

TEST(HttpServerTest, ClosesWhenTheReplySaysSo) {
  TestServer server;
  ReplyPlan plan = TextPlan("bye");
  plan.headers.push_back({"connection", "Close"});
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  EXPECT_EQ(client.ReadToEnd().end, StreamEnd::kFin);
  EXPECT_EQ(server.clock().Elapsed(), 0s);
}

TEST(HttpServerTest, AnswersWhatIsNoHttpAndCloses) {
  TestServer server(WithReplies());
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), std::string("HELO mail\r\n\r\n"),
        std::string("GET /\r\n\r\n"), std::string("GET / HTTP/1.1\r\nno colon\r\n\r\n"), std::string("\n\n\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n"), std::string(200000, '\xff'),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!!\r\n"),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n"),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}) {
    SCOPED_TRACE(garbage.substr(0, 60));
    RawClient client = server.Connect();
    client.Send(garbage);
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes, TextReply("bad", "400 Bad Request"));
    EXPECT_EQ(received.end, StreamEnd::kFin);
    client.Close();
  }
  EXPECT_THAT(server.requests(), SizeIs(0));
  server.ExpectAlive();
}

TEST(HttpServerTest, TheRepliesHaveDefaults) {
  TestServer server;
  RawClient client = server.Connect();
  client.Send("nonsense\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd().bytes,
            "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 11\r\n"
            "connection: close\r\n\r\nBad Request");
}

TEST(HttpServerTest, LimitsTheContentAtItsLastByte) {
  TestServerOptions options = WithReplies();
  options.http.body_bytes_max = 100000;
  TestServer server(std::move(options));
  const auto answer = [&](const std::string& request) {
    RawClient client = server.Connect();
    client.Send(request);
    return client.ReadUntil("\r\n\r\n").substr(0, 12);
  };
  for (const std::size_t size : {99999, 100000, 100001}) {
    const std::string body(size, 'b');
    const bool fits = size <= 100000;
    const std::string status = fits ? "HTTP/1.1 200" : "HTTP/1.1 413";
    EXPECT_EQ(answer(Post(body)), status) << size;
    EXPECT_EQ(answer(PostChunked(body, 7)), status) << size;
    EXPECT_EQ(answer(PostChunked(body, 1 << 20)), status) << size;
    if (fits) {
      EXPECT_EQ(server.requests().back().body.size(), size);
    }
  }
  EXPECT_THAT(server.requests(), SizeIs(6));
  server.ExpectAlive();
}

TEST(HttpServerTest, AClientThatStillSendsGetsToReadThatItIsTooMuch) {
  TestServerOptions options = WithReplies();
  options.http.body_bytes_max = 1000;
  TestServer server(std::move(options));
  const std::string body(5 << 20, 'b');
  for (const std::string& request : {Post(body), PostChunked(body, 1 << 16)}) {
    RawClient client = server.Connect();
    EXPECT_TRUE(client.Send(request));
    const Received received = client.ReadToEnd();
    EXPECT_EQ(received.bytes, TextReply("large", "413 Content Too Large"));
    EXPECT_EQ(received.end, StreamEnd::kFin);
  }
  server.ExpectAlive();
}

TEST(HttpServerTest, AnEndlessChunkHeaderEndsAtALimit) {
  TestServerOptions options = WithReplies();
  options.http.body_bytes_max = 1000;
  TestServer server(std::move(options));
  RawClient client = server.Connect();
  client.Send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(200000, 'e'));
  EXPECT_EQ(client.ReadToEnd().bytes, TextReply("large", "413 Content Too Large"));
  server.ExpectAlive();
}

TEST(HttpServerTest, ExpectContinueIsAnsweredBeforeTheContent) {
  TestServerOptions options = WithReplies();
  options.http.body_bytes_max = 10;
  TestServer server(std::move(options));
  RawClient client = server.Connect();
  client.Send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("hello");
  EXPECT_EQ(client.ReadUntil("ok"), TextReply("ok"));
  EXPECT_EQ(server.requests().back().body, "hello");
  client.Send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd().bytes, TextReply("large", "413 Content Too Large"));
}

TEST(HttpServerTest, LimitsTheHead) {
  TestServer server(WithReplies());
  const std::string small = "GET / HTTP/1.1\r\nA: \r\n\r\n";
  const std::size_t limit = 64 << 10;
  for (const std::size_t size : {limit - 1, limit, limit + 1, std::size_t{100000}}) {
    RawClient client = server.Connect();
    client.Send("GET / HTTP/1.1\r\nA: " + std::string(size - small.size(), 'h') + "\r\n\r\n");
    EXPECT_THAT(client.ReadUntil("\r\n\r\n"),
                StartsWith(size <= limit ? "HTTP/1.1 200 OK" : "HTTP/1.1 431 Request Header Fields Too Large"));
  }
  // One header value over 8192 bytes, at which cpp-httplib gives up, is as good as any.
  EXPECT_EQ(server.requests().back().headers[0].value.size(), limit - small.size());
  RawClient many = server.Connect();
  std::string head = "GET / HTTP/1.1\r\n";
  while (head.size() < 100000) head += "a: b\r\n";
  many.Send(head + "\r\n");
  EXPECT_THAT(many.ReadToEnd().bytes, StartsWith("HTTP/1.1 431"));
  server.ExpectAlive();
}

TEST(HttpServerTest, ALongPathNeitherOverflowsTheStackNorGetsThrough) {
  TestServer server;
  RawClient client = server.Connect();
  client.Send(Get("/" + std::string(8099, 'p')));
  EXPECT_EQ(client.ReadUntil("ok"), TextReply("ok"));
  EXPECT_EQ(server.requests().back().path.size(), 8100u);
  for (const std::size_t size : {std::size_t{8193}, std::size_t{100000}}) {
    RawClient too_long = server.Connect();
    too_long.Send(Get("/" + std::string(size - 1, 'p')));
    const Received received = too_long.ReadToEnd();
    EXPECT_EQ(received.bytes,
              "HTTP/1.1 414 URI Too Long\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 12\r\n"
              "connection: close\r\n\r\nURI Too Long");
    EXPECT_EQ(received.end, StreamEnd::kFin);
  }
  server.ExpectAlive();
}

TEST(HttpServerTest, ALongRangeHeaderDoesNotOverflowTheStack) {
  TestServer server;
  RawClient client = server.Connect();
  std::string range = "Range: bytes=0-1";
  while (range.size() < 8000) range += ",0-1";
  client.Send(Get("/", range + "\r\n"));
  EXPECT_EQ(client.ReadUntil("ok"), TextReply("ok"));
}

TEST(HttpServerTest, AClientThatClosesInsideItsUploadIsForgotten) {
  TestServer server;
  for (const bool reset : {false, true}) {
    RawClient client = server.Connect();
    client.Send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + std::string(1000, 'u'));
    if (reset) {
      client.CloseRst();
    } else {
      client.Close();
    }
  }
  server.ExpectAlive();
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST(HttpServerTest, AHandlersExceptionIs500AndIsTold) {
  std::vector<std::string> told;
  TestServerOptions options;
  options.http.on_exception = [&told](const Request& request, const std::string& what) {
    told.push_back(request.path + " " + what);
  };
  int calls = 0;
  options.handler = [&calls](const Request&) -> HttpServer::Handled {
    if (++calls == 1) throw std::runtime_error("boom");
    if (calls == 2) throw 7;
    return {TextPlan("fine"), nullptr};
  };
  TestServer server(std::move(options));
  RawClient client = server.Connect();
  for (int i = 0; i < 2; ++i) {
    client.Send(Get("/" + std::to_string(i)));
    EXPECT_EQ(client.ReadUntil("Error\r\n"), "HTTP/1.1 500 Internal Server Error\r\n");
    EXPECT_EQ(client.ReadUntil("Internal Server Error"),
              "content-type: text/plain; charset=utf-8\r\ncontent-length: 21\r\n\r\nInternal Server Error");
  }
  client.Send(Get("/2"));
  EXPECT_EQ(client.ReadUntil("fine"), TextReply("fine"));
  EXPECT_THAT(told, ElementsAre("/0 boom", "/1 unknown"));
}

TEST(HttpServerTest, OverTheConnectionLimitItSaysSo) {
  TestServerOptions options = WithReplies();
  options.http.connections_max = 3;
  TestServer server(std::move(options));
  std::vector<RawClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(server.Connect());
    clients.back().Send(Get("/"));
    EXPECT_EQ(clients.back().ReadUntil("ok"), TextReply("ok"));
  }
  EXPECT_EQ(server.http().open_connections(), 3u);
  {
    RawClient refused = server.Connect();
    refused.Send(Get("/"));
    const Received received = refused.ReadToEnd();
    EXPECT_EQ(received.bytes, TextReply("limit", "503 Service Unavailable"));
    EXPECT_EQ(received.end, StreamEnd::kFin);
  }
  clients[0].Send(Get("/"));
  EXPECT_EQ(clients[0].ReadUntil("ok"), TextReply("ok"));
  clients.pop_back();
  while (server.http().open_connections() == 3) std::this_thread::yield();
  server.ExpectAlive();
}

TEST(HttpServerTest, APlansClockIsTheTenantsOwn) {
  // Two clocks: the server's stands still while the tenant's jumps, and the connection's bytes hold the tenant's too.
  const auto tenant = std::make_shared<VirtualClock>();
  TestServerOptions options;
  options.clock = std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  options.handler = [&](const Request&) -> HttpServer::Handled {
    ReplyPlan plan = TextPlan("slow");
    plan.delay_before_head = 20min;
    return {std::move(plan), tenant};
  };
  TestServer server(std::move(options));
  Participant me(*tenant);
  RawClient client(*tenant, server.http().port());
  for (int i = 1; i <= 3; ++i) {
    client.Send(Get("/"));
    EXPECT_EQ(client.ReadUntil("slow"), TextReply("slow"));
    EXPECT_EQ(tenant->Elapsed(), i * 20min);
  }
  EXPECT_EQ(server.clock().Elapsed(), 0s);
  client.Close();
}

TEST(HttpServerTest, StopEndsIdleAndSilentConnectionsAtOnce) {
  TestServer server;
  RawClient idle = server.Connect();
  idle.Send(Get("/"));
  idle.ReadUntil("ok");
  ReplyPlan silent_plan = TextPlan("silent");
  silent_plan.ending = Ending::kSilence;
  server.Next(std::move(silent_plan));
  RawClient silent = server.Connect();
  silent.Send(Get("/"));
  silent.ReadUntil("silent");
  RawClient fresh = server.Connect();
  server.http().Stop(10min);  // real time: the test's limit would run out
  EXPECT_EQ(idle.ReadToEnd().end, StreamEnd::kFin);
  EXPECT_EQ(silent.ReadToEnd().end, StreamEnd::kFin);
  const ExchangeEnd end = server.WaitForEnd();
  EXPECT_EQ(end.ending, Ending::kSilence);
  EXPECT_FALSE(end.client_closed);
  EXPECT_EQ(server.http().open_connections(), 0u);
  server.http().Stop(0s);  // again
}

TEST(HttpServerTest, StopEndsAStreamThatDoesNotEnd) {
  for (const bool waits : {true, false}) {
    TestServer server;
    std::vector<BodyStep> steps;
    steps.push_back(BodyStep::Bytes("hello"));
    if (waits) steps.push_back(BodyStep::Wait(server.At(24h)));
    // Otherwise the client's buffers fill up and the server waits for it to read.
    for (int i = 0; i < 200 && !waits; ++i) steps.push_back(BodyStep::Bytes(std::string(1 << 20, 'x')));
    server.Next(StreamPlan(std::make_unique<StepSource>(std::move(steps))));
    RawClient client(server.clock(), server.http().port(), 16 << 10);
    client.Send(Get("/"));
    client.ReadUntil("hello\r\n");
    server.http().Stop(0s);
    const ExchangeEnd end = server.WaitForEnd();
    EXPECT_EQ(end.ending, std::nullopt);
    EXPECT_FALSE(end.client_closed);
    EXPECT_EQ(end.at, server.At(0s));
  }
}

TEST(HttpServerTest, StopGivesARunningReplyItsGrace) {
  TestServer server;
  ReplyPlan plan = TextPlan("late");
  plan.delay_before_head = 5s;
  server.Next(std::move(plan));
  RawClient client = server.Connect();
  client.Send(Get("/"));
  while (server.requests().empty()) std::this_thread::yield();
  server.clock().Lock();
  std::thread stopper([&] { server.http().Stop(10min); });
  while (IsListening(server.http().port())) std::this_thread::yield();
  server.clock().Unlock();
  const Received received = client.ReadToEnd();
  EXPECT_EQ(received.bytes, TextReply("late"));
  EXPECT_EQ(received.end, StreamEnd::kFin);
  EXPECT_EQ(received.at, server.At(5s));
  stopper.join();
}

TEST(HttpServerTest, AUsedPortIsAClearError) {
  TestServer server;
  HttpServerOptions options;
  options.port = server.http().port();
  const auto second = HttpServer::Start(options, nullptr, {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::kTransport);
  EXPECT_EQ(second.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(options.port) + ": Address already in use");
}

TEST(HttpServerTest, ABadHostOrPortIsAClearError) {
  struct Row {
    std::string host;
    int port;
    ErrorKind kind;
    std::string message;
  };
  const Row rows[] = {
      {"127.0.0.1", -1, ErrorKind::kInvalidArgument, "cannot listen on port -1: not in 0..65535"},
      {"127.0.0.1", 65536, ErrorKind::kInvalidArgument, "cannot listen on port 65536: not in 0..65535"},
      {"", 0, ErrorKind::kInvalidArgument, "cannot listen: the host is empty"},
      {"256.1.1.1", 0, ErrorKind::kInvalidArgument, "cannot listen on 256.1.1.1:0: "},
      {"192.0.2.1", 0, ErrorKind::kTransport, "cannot listen on 192.0.2.1:0: Cannot assign requested address"},
  };
  for (const Row& row : rows) {
    HttpServerOptions options;
    options.host = row.host;
    options.port = row.port;
    const auto started = HttpServer::Start(options, nullptr, {});
    ASSERT_FALSE(started.has_value()) << row.host;
    EXPECT_EQ(started.error().kind, row.kind) << row.host;
    EXPECT_THAT(started.error().message, StartsWith(row.message));
  }
}

TEST(HttpServerTest, TellsItsAddress) {
  TestServer server;
  EXPECT_GT(server.http().port(), 0);
  EXPECT_EQ(server.http().address(), "127.0.0.1:" + std::to_string(server.http().port()));
}

TEST(HttpServerTest, TheSameExchangesAreTheSameSequenceEveryTime) {
  // Were a byte or a close in the socket overlooked, a timer would now and then jump first.
  std::vector<Duration> first;
  for (int round = 0; round < 100; ++round) {
    TestServer server;
    std::vector<Duration> trace;
    RawClient client = server.Connect();
    for (int i = 0; i < 3; ++i) {
      ReplyPlan plan = TextPlan("a");
      plan.delay_before_head = 99ms;
      server.Next(std::move(plan));
      client.Send(Get("/"));
      std::string piece;
      StreamEnd end{};
      ASSERT_TRUE(client.ReadPiece(&piece, 100ms, &end)) << "round " << round;
      trace.push_back(server.clock().Elapsed());
      server.clock().SleepFor(10ms);
    }
    ReplyPlan hang = TextPlan("b");
    hang.delay_before_head = 1h;
    server.Next(std::move(hang));
    client.Send(Get("/"));
    server.clock().SleepFor(5s);
    client.Close();
    for (int i = 0; i < 4; ++i) trace.push_back(server.WaitForEnd().at - TimePoint{});
    if (round == 0) first = trace;
    ASSERT_EQ(trace, first) << "round " << round;
  }
  EXPECT_EQ(first.back(), 327ms + 5s);
}

}  // namespace
}  // namespace opensandbox::emulator
