#include "client/transport/response_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace opensandbox::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using State = ResponseFilter::State;

constexpr std::size_t kHeadMax = 64 << 10;

// All that httplib would see, with the filter fed in pieces of `piece` bytes.
std::string FeedAll(ResponseFilter& filter, std::string_view bytes, std::size_t piece = 1 << 20) {
  std::string out;
  char buffer[64];
  const auto drain = [&] {
    while (const std::size_t count = filter.Take(buffer, sizeof(buffer))) out.append(buffer, count);
  };
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    filter.Feed(part);
    bytes.remove_prefix(part.size());
    drain();
  }
  return out;
}

State StateAfter(std::string_view bytes, bool end = false, bool head_request = false) {
  ResponseFilter filter(head_request, kHeadMax);
  FeedAll(filter, bytes);
  if (end) filter.FeedEnd();
  return filter.state();
}

struct GoodCase {
  std::string name;
  std::string wire;
  std::string seen;  // by httplib
  bool reusable = true;
};
void PrintTo(const GoodCase& c, std::ostream* os) { *os << ::testing::PrintToString(c.wire); }

class GoodAnswerTest : public ::testing::TestWithParam<GoodCase> {};

TEST_P(GoodAnswerTest, IsHandedOnPlainHoweverItIsCut) {
  for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
    ResponseFilter filter(false, kHeadMax);
    EXPECT_EQ(FeedAll(filter, GetParam().wire, piece), GetParam().seen) << "pieces of " << piece;
    EXPECT_EQ(filter.state(), State::kComplete) << filter.complaint();
    EXPECT_EQ(filter.reusable(), GetParam().reusable);
  }
}

TEST_P(GoodAnswerTest, IsIncompleteAtEveryEarlierByte) {
  const std::string& wire = GetParam().wire;
  const std::size_t end = wire.size() - (GetParam().name == "Surplus" ? 1 : 0);
  for (std::size_t i = 0; i < end; ++i) {
    const State state = StateAfter(wire.substr(0, i), true);
    EXPECT_TRUE(state == State::kHead || state == State::kBody) << "after " << i << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(
    , GoodAnswerTest,
    ::testing::Values(
        GoodCase{"Length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                 "HTTP/1.1 200 -\r\nContent-Length: 5\r\n\r\nhello"},
        GoodCase{"Empty", "HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n",
                 "HTTP/1.1 404 -\r\nContent-Length: 0\r\n\r\n"},
        GoodCase{"NoReason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200 -\r\nContent-Length: 0\r\n\r\n"},
        GoodCase{"EqualLengths", "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\nx",
                 "HTTP/1.1 200 -\r\nContent-Length: 1\r\n\r\nx"},
        GoodCase{"NoContent", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 -\r\nContent-Length: 0\r\n\r\n"},
        GoodCase{"NotModified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
                 "HTTP/1.1 304 -\r\nContent-Length: 0\r\n\r\n"},
        GoodCase{"Chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
                 "HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"},
        GoodCase{
            "ChunkedWithExtrasAndTrailers",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00A;x=\"y\"\r\n0123456789\r\n000;last\r\nX: y\r\n"
            "Z: w\r\n\r\n",
            "HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"},
        GoodCase{"ChunkedAndLength",
                 "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 "HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
        GoodCase{"Interim",
                 "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                 "HTTP/1.1 200 -\r\nContent-Length: 1\r\n\r\nx"},
        GoodCase{"Close", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200 -\r\nContent-Length: 0\r\n\r\n", false},
        GoodCase{"Http10", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200 -\r\nContent-Length: 0\r\n\r\n", false},
        GoodCase{"Http10KeepAlive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
                 "HTTP/1.1 200 -\r\nContent-Length: 0\r\n\r\n"},
        GoodCase{"BareLineFeeds", "HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
                 "HTTP/1.1 200 -\r\nContent-Length: 1\r\n\r\nx"}),
    [](const auto& test) { return test.param.name; });

TEST(ResponseFilterTest, ABodyWithoutFramingLastsUntilTheEnd) {
  ResponseFilter filter(false, kHeadMax);
  EXPECT_EQ(FeedAll(filter, "HTTP/1.1 200 OK\r\n\r\nabc"), "HTTP/1.1 200 -\r\n\r\nabc");
  EXPECT_EQ(filter.state(), State::kBody);
  filter.FeedEnd();
  EXPECT_EQ(filter.state(), State::kComplete);
  EXPECT_FALSE(filter.reusable());
}

TEST(ResponseFilterTest, AnAnswerToHeadHasNoBody) {
  EXPECT_EQ(StateAfter("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, true), State::kComplete);
  EXPECT_EQ(StateAfter("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, true), State::kComplete);
  EXPECT_EQ(StateAfter("HTTP/1.1 200 OK\r\n\r\n", false, true), State::kComplete);
}

TEST(ResponseFilterTest, BytesBehindTheEndSpoilTheConnection) {
  ResponseFilter filter(false, kHeadMax);
  FeedAll(filter, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy");
  EXPECT_EQ(filter.state(), State::kComplete);
  EXPECT_FALSE(filter.reusable());
}

TEST(ResponseFilterTest, KeepsHeadersAsTheyCame) {
  ResponseFilter filter(false, kHeadMax);
  FeedAll(filter,
          "HTTP/1.1 200 OK\r\nSet-Cookie: a=%41\r\nX-Empty:\r\nset-cookie:  b=2\t\r\nX-Fold: one\r\n  two\r\nX-Utf8: "
          "\xc3\xbc\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(filter.status(), 200);
  EXPECT_THAT(filter.headers(), ElementsAre(HeaderField{"Set-Cookie", "a=%41"}, HeaderField{"X-Empty", ""},
                                            HeaderField{"set-cookie", "b=2"}, HeaderField{"X-Fold", "one two"},
                                            HeaderField{"X-Utf8", "\xc3\xbc"}, HeaderField{"Content-Length", "0"}));
}

struct BadCase {
  std::string name;
  std::string wire;
  std::string complaint;
};
void PrintTo(const BadCase& c, std::ostream* os) { *os << ::testing::PrintToString(c.wire); }

class BadAnswerTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadAnswerTest, IsRefusedHoweverItIsCut) {
  for (const std::size_t piece : {1, 3, 1000}) {
    ResponseFilter filter(false, kHeadMax);
    FeedAll(filter, GetParam().wire, piece);
    EXPECT_EQ(filter.state(), State::kMalformed);
    EXPECT_THAT(filter.complaint(), HasSubstr(GetParam().complaint));
  }
}

const std::string kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    , BadAnswerTest,
    ::testing::Values(
        BadCase{"Garbage", "x", "begin"}, BadCase{"Blank", "\r\nHTTP/1.1 200 OK\r\n\r\n", "begin"},
        BadCase{"Http2", "HTTP/2 200\r\n\r\n", "begin"}, BadCase{"Version", "HTTP/1.2 200 OK\r\n\r\n", "status line"},
        BadCase{"ShortStatus", "HTTP/1.1 20 OK\r\n\r\n", "status line"},
        BadCase{"LongStatus", "HTTP/1.1 2000 OK\r\n\r\n", "status line"},
        BadCase{"ZeroStatus", "HTTP/1.1 000 OK\r\n\r\n", "status line"},
        BadCase{"WordStatus", "HTTP/1.1 abc OK\r\n\r\n", "status line"},
        BadCase{"SwitchingProtocols", "HTTP/1.1 101 Switching\r\n\r\n", "switches"},
        BadCase{"NoColon", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "header line"},
        BadCase{"NoName", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "header line"},
        BadCase{"BlankBeforeColon", "HTTP/1.1 200 OK\r\nX : y\r\n\r\n", "header line"},
        BadCase{"FoldWithoutField", "HTTP/1.1 200 OK\r\n x: y\r\n\r\n", "header line"},
        BadCase{"Nul", std::string("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 28), "control"},
        BadCase{"BareCarriageReturn", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "control"},
        BadCase{"WordLength", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n", "Content-Length"},
        BadCase{"NegativeLength", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Content-Length"},
        BadCase{"EmptyLength", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "Content-Length"},
        BadCase{"HugeLength", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", "Content-Length"},
        BadCase{"TwoLengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "Content-Length"},
        BadCase{"OtherCoding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "Transfer-Encoding"},
        BadCase{"TwoCodings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                "Transfer-Encoding"},
        BadCase{"NoChunkSize", kChunkedHead + "\r\n", "size"},
        BadCase{"WordChunkSize", kChunkedHead + "xyz\r\n", "size"},
        BadCase{"NegativeChunkSize", kChunkedHead + "-2\r\n", "size"},
        BadCase{"PrefixedChunkSize", kChunkedHead + "0x5\r\n", "size"},
        BadCase{"HugeChunkSize", kChunkedHead + "10000000000000000\r\n", "64 bits"},
        BadCase{"ChunkLongerThanItsSize", kChunkedHead + "2\r\nabc\r\n", "longer"},
        BadCase{"LongChunkLine", kChunkedHead + "1;" + std::string(5000, 'x'), "too long"},
        BadCase{"LongTrailers", kChunkedHead + "0\r\n" + std::string(70000, 'x'), "trailers"}),
    [](const auto& test) { return test.param.name; });

TEST(ResponseFilterTest, LimitsTheHead) {
  const std::string start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  constexpr std::size_t kMax = 1000;
  for (const std::size_t size : {kMax - 1, kMax, kMax + 1}) {
    const std::string head = start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
    ASSERT_EQ(head.size(), size);
    ResponseFilter filter(false, kMax);
    FeedAll(filter, head);
    EXPECT_EQ(filter.state(), size <= kMax ? State::kComplete : State::kMalformed) << size;
  }
}

TEST(ResponseFilterTest, InterimHeadsCountTowardsTheLimit) {
  ResponseFilter filter(false, 1000);
  for (int i = 0; i < 100 && filter.state() == State::kHead; ++i) FeedAll(filter, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(filter.state(), State::kMalformed);
}

TEST(ResponseFilterTest, ALargestChunkSizeIsRead) {
  ResponseFilter filter(false, kHeadMax);
  EXPECT_THAT(FeedAll(filter, kChunkedHead + "FFFFFFFFFFFFFFFF\r\nx"), HasSubstr("\r\nffffffffffffffff\r\nx"));
  EXPECT_EQ(filter.state(), State::kBody);
}

}  // namespace
}  // namespace opensandbox::internal
