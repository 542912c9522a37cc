#include <gtest/gtest.h>

#include <string>

#include "emulator/opensandbox/surfaces.h"
#include "tests/unit/opensandbox/lifecycle_fixture.h"

namespace opensandbox::emulator {
namespace {

Route RouteOf(const std::string& method, const std::string& target) {
  return RouteRequest(MakeRequest(method, target));
}

struct LifecycleRow {
  const char* method;
  const char* path;
  const char* operation;
};

constexpr LifecycleRow kLifecycleRows[] = {
    {"POST", "/sandboxes", "createSandbox"},
    {"GET", "/sandboxes", "listSandboxes"},
    {"GET", "/sandboxes/x", "getSandbox"},
    {"DELETE", "/sandboxes/x", "deleteSandbox"},
    {"POST", "/sandboxes/x/pause", "pauseSandbox"},
    {"POST", "/sandboxes/x/resume", "resumeSandbox"},
    {"POST", "/sandboxes/x/renew-expiration", "renewExpiration"},
    {"PATCH", "/sandboxes/x/metadata", "patchSandboxMetadata"},
    {"GET", "/sandboxes/x/endpoints/44772", "getEndpoint"},
};

TEST(RouterTest, LifecycleOperationsHaveTheirNamesUnderBothMounts) {
  for (const LifecycleRow& row : kLifecycleRows) {
    for (const char* mount : {"", "/v1"}) {
      const Route route = RouteOf(row.method, std::string(mount) + row.path);
      EXPECT_EQ(route.operation, row.operation) << row.path;
      EXPECT_EQ(route.surface, Surface::kLifecycle) << row.path;
      EXPECT_TRUE(route.known_path) << row.path;
      EXPECT_EQ(route.allow, "") << row.path;
    }
  }
}

TEST(RouterTest, NoOtherMountExists) {
  EXPECT_FALSE(RouteOf("GET", "/v2/sandboxes").known_path);
  EXPECT_FALSE(RouteOf("GET", "/v1/v1/sandboxes").known_path);
  EXPECT_FALSE(RouteOf("GET", "/V1/sandboxes").known_path);
  EXPECT_FALSE(RouteOf("GET", "/v1//sandboxes").known_path);
  EXPECT_FALSE(RouteOf("GET", "/v1/sandboxes//pause").known_path);
}

TEST(RouterTest, HealthIsOnlyAtTheRoot) {
  EXPECT_EQ(RouteOf("GET", "/health").operation, "health");
  EXPECT_FALSE(RouteOf("GET", "/v1/health").known_path);
  EXPECT_FALSE(RouteOf("GET", "/healthxyz").known_path);
}

TEST(RouterTest, WrongMethodNamesTheMethodsOfTheFirstRoute) {
  EXPECT_EQ(RouteOf("PUT", "/v1/sandboxes").allow, "POST");
  EXPECT_EQ(RouteOf("POST", "/v1/sandboxes/x").allow, "GET");
  EXPECT_EQ(RouteOf("HEAD", "/health").allow, "GET");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/metadata").allow, "PATCH");
  EXPECT_EQ(RouteOf("OPTIONS", "/v1/sandboxes/x/proxy/80/a").allow, "GET, POST, PUT, DELETE, PATCH");
  EXPECT_EQ(RouteOf("PUT", "/v1/sandboxes").operation, "unknown");
}

TEST(RouterTest, TrailingSlashIsARedirectOnlyWhereTheRestIsARoute) {
  EXPECT_TRUE(RouteOf("GET", "/v1/sandboxes/").trailing_slash);
  EXPECT_TRUE(RouteOf("GET", "/v1/sandboxes/x/").trailing_slash);
  EXPECT_TRUE(RouteOf("GET", "/v1/sandboxes///").trailing_slash);
  EXPECT_FALSE(RouteOf("GET", "/v1/nope/").trailing_slash);
  EXPECT_FALSE(RouteOf("GET", "/").trailing_slash);
  EXPECT_FALSE(RouteOf("GET", "/v1/sandboxes/x/proxy/80/").trailing_slash);
}

TEST(RouterTest, IdsAreDecodedAndAnEncodedSlashIsASlash) {
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/a%20b").sandbox_id, "a b");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/%FF").sandbox_id, "\xEF\xBF\xBD");
  EXPECT_FALSE(RouteOf("GET", "/v1/sandboxes/a%2Fb").known_path);
  EXPECT_EQ(RouteOf("POST", "/v1/sandboxes/a%2Fpause").operation, "pauseSandbox");
}

TEST(RouterTest, AbsoluteFormIsRoutedByItsPath) {
  EXPECT_EQ(RouteOf("GET", "http://127.0.0.1:8080/health").operation, "health");
  EXPECT_FALSE(RouteOf("GET", "http://127.0.0.1:8080").known_path);
}

struct InnerRow {
  const char* method;
  const char* port;
  const char* path;
  const char* operation;
};

constexpr InnerRow kInnerRows[] = {
    {"GET", "44772", "/ping", "ping"},
    {"POST", "44772", "/code", "runCode"},
    {"DELETE", "44772", "/code", "interruptCode"},
    {"POST", "44772", "/code/context", "createContext"},
    {"GET", "44772", "/code/contexts", "listContexts"},
    {"DELETE", "44772", "/code/contexts", "deleteContexts"},
    {"GET", "44772", "/code/contexts/c1", "getContext"},
    {"DELETE", "44772", "/code/contexts/c1", "deleteContext"},
    {"GET", "18080", "/policy", "getPolicy"},
};

TEST(RouterTest, EndpointPathsNameExecdAndEgressOperations) {
  for (const InnerRow& row : kInnerRows) {
    const Route route = RouteOf(row.method, std::string("/sandbox/sb%2D1/proxy/") + row.port + row.path + "?id=1");
    EXPECT_EQ(route.operation, row.operation);
    EXPECT_EQ(route.surface, std::string(row.port) == "18080" ? Surface::kEgress : Surface::kExecd) << row.path;
    EXPECT_EQ(route.sandbox_id, "sb-1");
    EXPECT_EQ(route.port_text, row.port);
    EXPECT_EQ(route.inner_path, row.path);
    EXPECT_FALSE(route.via_server_proxy);
    EXPECT_TRUE(route.known_path);
  }
}

TEST(RouterTest, ServerProxyPathsNameTheSameOperations) {
  for (const InnerRow& row : kInnerRows) {
    for (const char* mount : {"", "/v1"}) {
      const Route route = RouteOf(row.method, std::string(mount) + "/sandboxes/sb-1/proxy/" + row.port + row.path);
      EXPECT_EQ(route.operation, row.operation);
      EXPECT_EQ(route.surface, Surface::kServerProxy) << row.path;
      EXPECT_TRUE(route.via_server_proxy);
      EXPECT_EQ(route.inner_path, row.path);
    }
  }
}

TEST(RouterTest, ContextIdIsDecodedIntoTheItem) {
  EXPECT_EQ(RouteOf("GET", "/sandbox/x/proxy/44772/code/contexts/a%20b").item, "a b");
}

TEST(RouterTest, UnknownInnerPathsAreUnknownOrAPlainProxyRequest) {
  EXPECT_EQ(RouteOf("GET", "/sandbox/x/proxy/44772/nope").operation, "unknown");
  EXPECT_FALSE(RouteOf("GET", "/sandbox/x/proxy/44772/nope").known_path);
  EXPECT_TRUE(RouteOf("PUT", "/sandbox/x/proxy/44772/ping").known_path);
  EXPECT_EQ(RouteOf("PUT", "/sandbox/x/proxy/44772/ping").operation, "unknown");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/8080/index.html").operation, "serverProxy");
  EXPECT_EQ(RouteOf("GET", "/sandbox/x/proxy/8080/").surface, Surface::kServerProxy);
}

TEST(RouterTest, InnerPathKeepsItsEncodingAndBeginsWithASlash) {
  EXPECT_EQ(RouteOf("GET", "/sandbox/x/proxy/44772").inner_path, "/");
  EXPECT_EQ(RouteOf("GET", "/sandbox/x/proxy/44772/a%20b").inner_path, "/a%20b");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/8080").inner_path, "/");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/8080///a%20b").inner_path, "/a%20b");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x%2Fproxy%2F8080%2Fa%20b").inner_path, "/a%20b");
}

TEST(RouterTest, ProxyPortsAreNumbersAsTheServerReadsThem) {
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/00080/").port_text, "80");
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/0/").surface, Surface::kServerProxy);
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/abc/").surface, Surface::kLifecycle);
  EXPECT_FALSE(RouteOf("GET", "/sandbox/x/proxy/abc/").known_path);
  EXPECT_FALSE(RouteOf("GET", "/sandbox//proxy/80/").known_path);
}

TEST(RouterTest, PathsOfAnyLengthAreSafe) {
  const std::string deep = [] {
    std::string path;
    for (int i = 0; i < 500000; ++i) path += "/x";
    return path;
  }();
  EXPECT_FALSE(RouteOf("GET", deep).known_path);
  EXPECT_FALSE(RouteOf("GET", "/v1/sandboxes" + deep).known_path);
  EXPECT_EQ(RouteOf("GET", "/v1/sandboxes/x/proxy/80" + deep).inner_path, deep);
  EXPECT_FALSE(RouteOf("GET", "/v1/" + std::string(1000000, '/')).known_path);
}

}  // namespace
}  // namespace opensandbox::emulator
