#include "client/transport/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/matchers.h"

namespace opensandbox::internal {
namespace {

using opensandbox::testing::FailsWith;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;

struct UrlCase {
  std::string name;
  std::string text;
  std::string origin;
  std::string host_header;
  std::string target;
};
void PrintTo(const UrlCase& c, std::ostream* os) { *os << c.text; }

class GoodUrlTest : public ::testing::TestWithParam<UrlCase> {};

TEST_P(GoodUrlTest, FindsItsParts) {
  const Result<Url> url = ParseUrl(GetParam().text);
  ASSERT_TRUE(url.has_value()) << url.error().Describe();
  EXPECT_EQ(url->Origin(), GetParam().origin);
  EXPECT_EQ(url->host_header, GetParam().host_header);
  EXPECT_EQ(url->target, GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(
    , GoodUrlTest,
    ::testing::Values(
        UrlCase{"HostOnly", "http://example.com", "http://example.com:80", "example.com", "/"},
        UrlCase{"Https", "https://example.com/v1", "https://example.com:443", "example.com", "/v1"},
        UrlCase{"Port", "http://localhost:8080/a?b=c", "http://localhost:8080", "localhost:8080", "/a?b=c"},
        UrlCase{"OwnPortIsLeftOut", "https://h:443/", "https://h:443", "h", "/"},
        UrlCase{"OtherSchemesPortIsNot", "https://h:80/", "https://h:80", "h:80", "/"},
        UrlCase{"EmptyPort", "http://h:/x", "http://h:80", "h", "/x"},
        UrlCase{"QueryWithoutPath", "http://h?x=1", "http://h:80", "h", "/?x=1"},
        UrlCase{"FragmentIsNotSent", "http://h/x?y#z", "http://h:80", "h", "/x?y"},
        UrlCase{"FragmentOnly", "http://h#z", "http://h:80", "h", "/"},
        UrlCase{"EscapesStay", "http://h/a%2Fb%20c/../%zz?d=%C3%BC+e", "http://h:80", "h",
                "/a%2Fb%20c/../%zz?d=%C3%BC+e"},
        UrlCase{"UrlInQuery", "http://h/?u=http://x:y@z/", "http://h:80", "h", "/?u=http://x:y@z/"},
        UrlCase{"UpperCase", "HTTP://Example.COM/Path", "http://example.com:80", "example.com", "/Path"},
        UrlCase{"Ipv4", "http://127.0.0.1:1/", "http://127.0.0.1:1", "127.0.0.1:1", "/"},
        UrlCase{"Ipv6", "http://[::1]:65535/x", "http://[::1]:65535", "[::1]:65535", "/x"},
        UrlCase{"Ipv6WithoutPort", "https://[2001:DB8::1]", "https://[2001:db8::1]:443", "[2001:db8::1]", "/"}),
    [](const auto& test) { return test.param.name; });

TEST(ParseUrlTest, KnowsNumericHosts) {
  EXPECT_TRUE(ParseUrl("http://127.0.0.1/")->host_is_ip);
  EXPECT_TRUE(ParseUrl("http://[::1]/")->host_is_ip);
  EXPECT_EQ(ParseUrl("http://[::1]/")->host, "::1");
  EXPECT_FALSE(ParseUrl("http://localhost/")->host_is_ip);
  EXPECT_FALSE(ParseUrl("http://1.2.3.example/")->host_is_ip);
}

TEST(ParseUrlTest, RefusesBadUrls) {
  for (const char* text : {"",
                           "example.com",
                           "/v1",
                           "ftp://h/",
                           "http:/h",
                           "http:///x",
                           "http://",
                           "https://:80/",
                           "http://h:0/",
                           "http://h:65536/",
                           "http://h:8o/",
                           "http://h:-1/",
                           "http://h:80:80/",
                           "http://u@h/",
                           "http://u:p@h/",
                           "http://[::1",
                           "http://[::1]x/",
                           "http://[]/",
                           "http://[1.2.3.4]/",
                           "http://[fe80::1%25eth0]/",
                           "http://::1/",
                           "http://h h/",
                           "http://h/a b",
                           "http://h/a\tb",
                           "http://h/a\r\nX: y",
                           "http://h/\xc3\xbc",
                           "http://h\\x/",
                           "http://h%00/",
                           "http://h\x7f/",
                           " http://h/",
                           "http://h/ "}) {
    EXPECT_THAT(ParseUrl(text),
                FailsWith(ErrorKind::kInvalidArgument, Field("outcome", &Error::outcome, Outcome::kDidNotHappen)))
        << text;
  }
}

TEST(ParseUrlTest, ShowsNoSecretInItsError) {
  const Result<Url> password = ParseUrl("http://user:secret@h/");
  ASSERT_FALSE(password.has_value());
  EXPECT_THAT(password.error().message, Not(HasSubstr("secret")));
  const Result<Url> query = ParseUrl("ftp://h/?key=secret");
  ASSERT_FALSE(query.has_value());
  EXPECT_THAT(query.error().message, Not(HasSubstr("secret")));
  EXPECT_THAT(query.error().message, HasSubstr("ftp://h/"));
}

}  // namespace
}  // namespace opensandbox::internal
