#include "emulator/http/request_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opensandbox::emulator {
namespace {

using ::testing::ElementsAre;

HeadState ScanAll(const std::string& bytes, std::size_t head_bytes_max = 64 << 10) {
  HeadScanner scanner(head_bytes_max);
  return scanner.Scan(bytes);
}

RequestHead Parse(const std::string& head) {
  RequestHead parsed;
  EXPECT_EQ(ParseHead(head, &parsed), HeadState::kComplete) << head;
  return parsed;
}

HeadState StateOf(const std::string& head) {
  RequestHead parsed;
  return ParseHead(head, &parsed);
}

TEST(HeadScannerTest, FindsTheEndHoweverTheBytesArrive) {
  const std::string head = "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string bytes = head + "body\r\n\r\n";
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    HeadScanner scanner(1000);
    std::size_t given = 0;
    HeadState state = HeadState::kIncomplete;
    while (state == HeadState::kIncomplete && given < bytes.size()) {
      given = std::min(given + step, bytes.size());
      state = scanner.Scan(bytes.substr(0, given));
    }
    ASSERT_EQ(state, HeadState::kComplete) << "in pieces of " << step;
    EXPECT_EQ(scanner.begin(), 2u);
    EXPECT_EQ(scanner.end(), head.size());
  }
}

TEST(HeadScannerTest, TellsGarbageAtItsFirstByte) {
  EXPECT_EQ(ScanAll("\x16\x03\x01"), HeadState::kMalformed);  // a TLS handshake
  EXPECT_EQ(ScanAll(std::string(1, '\0')), HeadState::kMalformed);
  EXPECT_EQ(ScanAll(" GET / HTTP/1.1"), HeadState::kMalformed);
  EXPECT_EQ(ScanAll("GET"), HeadState::kIncomplete);
}

TEST(HeadScannerTest, RefusesBareLineFeedsAndEndlessBlankLines) {
  EXPECT_EQ(ScanAll("GET / HTTP/1.1\n"), HeadState::kMalformed);
  EXPECT_EQ(ScanAll("GET / HTTP/1.1\r\nHost: x\n\n"), HeadState::kMalformed);
  EXPECT_EQ(ScanAll("\n"), HeadState::kMalformed);
  std::string blank;
  for (int i = 0; i < 100; ++i) blank += "\r\n";
  EXPECT_EQ(ScanAll(blank), HeadState::kMalformed);
}

TEST(HeadScannerTest, LimitsTheHead) {
  const std::string shell = "GET / HTTP/1.1\r\nA: \r\n\r\n";
  for (const std::size_t limit : {std::size_t{100}, std::size_t{5000}}) {
    const auto head_of = [&](std::size_t size) {
      return "GET / HTTP/1.1\r\nA: " + std::string(size - shell.size(), 'x') + "\r\n\r\n";
    };
    EXPECT_EQ(ScanAll(head_of(limit - 1), limit), HeadState::kComplete);
    EXPECT_EQ(ScanAll(head_of(limit), limit), HeadState::kComplete);
    EXPECT_EQ(ScanAll(head_of(limit + 1), limit), HeadState::kHeadTooLong);
    // Without an end in sight, too.
    EXPECT_EQ(ScanAll(head_of(limit + 100).substr(0, limit), limit), HeadState::kIncomplete);
    EXPECT_EQ(ScanAll(head_of(limit + 100).substr(0, limit + 1), limit), HeadState::kHeadTooLong);
  }
}

TEST(HeadScannerTest, TellsAnEndlessRequestLine) {
  EXPECT_EQ(ScanAll("GET /" + std::string(8000, 'a')), HeadState::kIncomplete);
  EXPECT_EQ(ScanAll("GET /" + std::string(9000, 'a')), HeadState::kTargetTooLong);
  EXPECT_EQ(ScanAll("GET /" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n"), HeadState::kTargetTooLong);
}

TEST(ParseHeadTest, KeepsTheTargetAndTheHeadersAsTheyCame) {
  const RequestHead head = Parse(
      "GET /v1/a%2Fb?x=1&y=%20?z HTTP/1.1\r\nhOst: 127.0.0.1\r\nX-B:  %41 b \t\r\nX-A: 1\r\nX-B: 2\r\nEmpty:\r\n\r\n");
  EXPECT_EQ(head.request.method, "GET");
  EXPECT_EQ(head.request.target, "/v1/a%2Fb?x=1&y=%20?z");
  EXPECT_EQ(head.request.path, "/v1/a%2Fb");
  EXPECT_EQ(head.request.query, "x=1&y=%20?z");
  EXPECT_THAT(head.request.headers, ElementsAre(Header{"hOst", "127.0.0.1"}, Header{"X-B", "%41 b"}, Header{"X-A", "1"},
                                                Header{"X-B", "2"}, Header{"Empty", ""}));
  EXPECT_FALSE(head.request.has_body);
  EXPECT_FALSE(head.close);
  EXPECT_EQ(head.Framing(), "GET / HTTP/1.1\r\n\r\n");
}

TEST(ParseHeadTest, TakesAnyMethodTokenAndTheEmptyQuery) {
  EXPECT_EQ(Parse("PURGE /x? HTTP/1.1\r\n\r\n").request.method, "PURGE");
  EXPECT_EQ(Parse("M-SEARCH * HTTP/1.1\r\n\r\n").request.path, "*");
  EXPECT_EQ(Parse("PURGE /x? HTTP/1.1\r\n\r\n").request.query, "");
}

TEST(ParseHeadTest, ReadsTheFraming) {
  struct Row {
    const char* fields;
    bool has_body, has_content;
    const char* framing;
  };
  const Row rows[] = {
      {"", false, false, "GET / HTTP/1.1\r\n\r\n"},
      {"Content-Length: 0\r\n", true, false, "GET / HTTP/1.1\r\n\r\n"},
      {"content-length: 12\r\n", true, true, "POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\n"},
      {"Content-Length: 12\r\nContent-Length: 12\r\n", true, true, "POST / HTTP/1.1\r\nContent-Length: 12\r\n\r\n"},
      {"Transfer-Encoding: Chunked\r\n", true, true, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", true, true,
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {"Expect: 100-Continue\r\nContent-Length: 1\r\n", true, true,
       "POST / HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"},
      {"Expect: 100-continue\r\n", false, false, "GET / HTTP/1.1\r\n\r\n"},
      // What would make cpp-httplib match regular expressions, decompress or parse forms.
      {"Range: bytes=0-1\r\nContent-Encoding: gzip\r\nContent-Type: multipart/form-data\r\nContent-Length: 1\r\n", true,
       true, "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n"},
  };
  for (const Row& row : rows) {
    const RequestHead head = Parse(std::string("POST /x HTTP/1.1\r\n") + row.fields + "\r\n");
    EXPECT_EQ(head.request.has_body, row.has_body) << row.fields;
    EXPECT_EQ(head.has_content(), row.has_content) << row.fields;
    EXPECT_EQ(head.Framing(), row.framing) << row.fields;
  }
}

TEST(ParseHeadTest, ClosesWhenAskedAndForHttp10) {
  EXPECT_TRUE(Parse("GET / HTTP/1.0\r\n\r\n").close);
  EXPECT_TRUE(Parse("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").close);
  EXPECT_TRUE(Parse("GET / HTTP/1.1\r\nConnection: te, close\r\n\r\n").close);
  EXPECT_FALSE(Parse("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n").close);
  EXPECT_FALSE(Parse("GET / HTTP/1.1\r\nConnection: closed\r\n\r\n").close);
}

TEST(ParseHeadTest, RefusesWhatIsNoRequest) {
  const std::string rows[] = {
      "GET / HTTP/1.1 \r\n\r\n",
      "GET /\r\n\r\n",
      "GET\r\n\r\n",
      "GET  HTTP/1.1\r\n\r\n",
      "GET /a b HTTP/1.1\r\n\r\n",
      "GET / HTTP/2.0\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\n",
      "GET / http/1.1\r\n\r\n",
      "G@T / HTTP/1.1\r\n\r\n",
      std::string("GET /\0 HTTP/1.1\r\n\r\n", 20),
      "GET / HTTP/1.1\r\nno colon\r\n\r\n",
      "GET / HTTP/1.1\r\nA : 1\r\n\r\n",
      "GET / HTTP/1.1\r\n: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n",
      std::string("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 24),
      "GET / HTTP/1.1\r\nA: \r1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
  };
  for (const std::string& head : rows) EXPECT_EQ(StateOf(head), HeadState::kMalformed) << head;
}

TEST(ParseHeadTest, LimitsTheTarget) {
  const auto target_of = [](std::size_t size) { return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\n\r\n"; };
  EXPECT_EQ(StateOf(target_of(kTargetBytesMax - 1)), HeadState::kComplete);
  EXPECT_EQ(StateOf(target_of(kTargetBytesMax)), HeadState::kComplete);
  EXPECT_EQ(StateOf(target_of(kTargetBytesMax + 1)), HeadState::kTargetTooLong);
}

}  // namespace
}  // namespace opensandbox::emulator
