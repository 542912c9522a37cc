#include "emulator/control/loopback.h"

#include <gtest/gtest.h>

namespace opensandbox::emulator {
namespace {

TEST(LoopbackTest, KnowsLoopbackNamesAndAddresses) {
  for (const char* host : {"localhost", "LocalHost", "127.0.0.1", "127.255.255.255", "127.0.0.0", "::1", "[::1]"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
  for (const char* host : {"", "localhost.", "localhost.evil.example", "evil.localhost", "127.0.0.1.evil.example",
                           "127.0.0.256", "127.0.0", "127.0.0.1.", "127.1", "128.0.0.1", "0.0.0.0", "127.0.0.0001",
                           "127.0..1", "[::2]", "::", "10.0.0.1", "127.0.0.1x", "127.-1.0.1"}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

TEST(LoopbackTest, AuthorityHasThisPortOrNone) {
  for (const char* authority : {"localhost", "localhost:9090", "127.0.0.1:9090", "[::1]", "[::1]:9090"}) {
    EXPECT_TRUE(IsLoopbackAuthority(authority, "9090")) << authority;
  }
  for (const char* authority : {"", ":9090", "localhost:9091", "localhost:", "localhost:9090:9090", "localhost:90900",
                                "::1", "::1:9090", "[::1", "[::1]9090", "evil.example:9090", "evil.example",
                                "user@localhost:9090", "localhost:9090/x", " localhost:9090", "[::1]x:9090"}) {
    EXPECT_FALSE(IsLoopbackAuthority(authority, "9090")) << authority;
  }
}

}  // namespace
}  // namespace opensandbox::emulator
