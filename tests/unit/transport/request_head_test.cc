#include "client/transport/request_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/matchers.h"

namespace opensandbox::internal {
namespace {

using opensandbox::testing::FailsWith;
using opensandbox::testing::IsOkAndHolds;

Result<std::string> Compose(const HttpRequest& request, bool keep_alive = true) {
  return ComposeRequestHead(request, *ParseUrl(request.url), "agent/1", keep_alive);
}

TEST(RequestHeadTest, SendsGivenHeadersInTheirOrderAndFiveOfItsOwn) {
  const HttpRequest request{.method = "POST",
                            .url = "http://h:8080/v1/x?y=%20",
                            .headers = {{"X-B", "2"}, {"x-a", "1"}, {"X-B", "3"}, {"X-Empty", ""}},
                            .body = "hello"};
  EXPECT_THAT(Compose(request), IsOkAndHolds("POST /v1/x?y=%20 HTTP/1.1\r\n"
                                             "Host: h:8080\r\n"
                                             "User-Agent: agent/1\r\n"
                                             "Accept-Encoding: identity\r\n"
                                             "Connection: keep-alive\r\n"
                                             "X-B: 2\r\nx-a: 1\r\nX-B: 3\r\nX-Empty: \r\n"
                                             "Content-Length: 5\r\n\r\n"));
}

TEST(RequestHeadTest, AGivenHeaderReplacesTheDefault) {
  const HttpRequest request{.method = "GET",
                            .url = "http://h/",
                            .headers = {{"host", "other"},
                                        {"USER-AGENT", "mine"},
                                        {"accept-encoding", "gzip"},
                                        {"connection", "close"},
                                        {"Content-Length", "99"}}};
  EXPECT_THAT(Compose(request), IsOkAndHolds("GET / HTTP/1.1\r\nhost: other\r\nUSER-AGENT: mine\r\n"
                                             "accept-encoding: gzip\r\nconnection: close\r\n\r\n"));
}

TEST(RequestHeadTest, SaysCloseWithoutKeepAlive) {
  EXPECT_THAT(Compose({.method = "GET", .url = "http://h/"}, false),
              IsOkAndHolds(::testing::HasSubstr("\r\nConnection: close\r\n")));
}

TEST(RequestHeadTest, SaysZeroLengthOnlyWhereContentIsUsual) {
  for (const char* method : {"POST", "PUT", "PATCH"}) {
    EXPECT_THAT(Compose({.method = method, .url = "http://h/"}),
                IsOkAndHolds(::testing::HasSubstr("\r\nContent-Length: 0\r\n")));
  }
  for (const char* method : {"GET", "DELETE", "HEAD", "OPTIONS"}) {
    EXPECT_THAT(Compose({.method = method, .url = "http://h/"}),
                IsOkAndHolds(::testing::Not(::testing::HasSubstr("Content-Length"))));
  }
  EXPECT_THAT(Compose({.method = "DELETE", .url = "http://h/", .body = "x"}),
              IsOkAndHolds(::testing::HasSubstr("\r\nContent-Length: 1\r\n")));
}

TEST(RequestHeadTest, RefusesWhatWouldBeAnotherRequest) {
  const HttpRequest bad[] = {
      {.method = "", .url = "http://h/"},
      {.method = "GET /x", .url = "http://h/"},
      {.method = "GET\r\n", .url = "http://h/"},
      {.method = "CONNECT", .url = "http://h/"},
      {.method = "GET", .url = "http://h/", .headers = {{"", "x"}}},
      {.method = "GET", .url = "http://h/", .headers = {{"X Y", "x"}}},
      {.method = "GET", .url = "http://h/", .headers = {{"X:", "x"}}},
      {.method = "GET", .url = "http://h/", .headers = {{"X", "a\r\nEvil: 1"}}},
      {.method = "GET", .url = "http://h/", .headers = {{"X", "a\nb"}}},
      {.method = "GET", .url = "http://h/", .headers = {{"X", std::string("a\0b", 3)}}},
      {.method = "POST", .url = "http://h/", .headers = {{"Transfer-Encoding", "chunked"}}},
  };
  for (const HttpRequest& request : bad) {
    EXPECT_THAT(Compose(request), FailsWith(ErrorKind::kInvalidArgument)) << request.method;
  }
}

TEST(FindHeaderTest, TakesTheFirstWhateverItsCase) {
  const std::vector<HeaderField> headers = {{"X-A", "1"}, {"x-a", "2"}, {"X-Ab", "3"}};
  EXPECT_EQ(FindHeader(headers, "x-A"), "1");
  EXPECT_EQ(FindHeader(headers, "X-AB"), "3");
  EXPECT_EQ(FindHeader(headers, "X-"), std::nullopt);
  EXPECT_EQ(FindHeader({}, "X-A"), std::nullopt);
}

}  // namespace
}  // namespace opensandbox::internal
