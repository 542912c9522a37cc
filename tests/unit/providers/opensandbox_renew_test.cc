#include "opensandbox/providers/sandbox_renewal.h"
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT: this project's
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class OpenSandboxRenewTest : public ProviderTest {
 protected:
  Result<void> Renew(Duration lifetime, std::stop_token stop = {}) {
    auto* renewal = dynamic_cast<SandboxRenewal*>(&provider());
    EXPECT_NE(renewal, nullptr);
    RenewSandboxRequest request;
    request.lifetime = lifetime;
    request.stop = std::move(stop);
    return renewal->RenewSandbox(Handle(), request);
  }
};

TEST_F(OpenSandboxRenewTest, SendsTheInstantAtWhichItShallEnd) {
  script().Then(Reply(200, R"({"expiresAt":"2026-01-01T00:15:00Z"})"));
  EXPECT_THAT(Renew(900s), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre("POST http://api.example/v1/sandboxes/sb-1/renew-expiration"));
  // The virtual clock begins with 2026.
  EXPECT_EQ(script().seen()[0].request.body, R"({"expiresAt":"2026-01-01T00:15:00.000Z"})");
}

TEST_F(OpenSandboxRenewTest, AnUnknownSandboxIsGone) {
  script().Then(Reply(404, ErrorJson("DOCKER::SANDBOX_NOT_FOUND", "Sandbox sb-1 not found.")));
  EXPECT_THAT(Renew(900s), FailsWith(ErrorKind::kSandboxGone, AllOf(Field(&Error::sandbox_id, "sb-1"),
                                                                    Field(&Error::message, HasSubstr("not found")))));
}

TEST_F(OpenSandboxRenewTest, ServerErrorsAreRetriedAndRefusalsAreNot) {
  script().Then(Reply(503, "")).Then(Reply(200, "{}"));
  EXPECT_THAT(Renew(900s), IsOk());
  script().Then(Reply(409, ErrorJson("DOCKER::INVALID_EXPIRATION", "no")));
  EXPECT_THAT(Renew(900s), HasApiCode("DOCKER::INVALID_EXPIRATION"));
  EXPECT_EQ(script().seen().size(), 3u);
}

TEST_F(OpenSandboxRenewTest, ATimeThatIsNoneIsRefusedUnsent) {
  EXPECT_THAT(Renew(0s), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_TRUE(script().seen().empty());
}

TEST_F(OpenSandboxRenewTest, Cancels) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THAT(Renew(900s, source.get_token()), FailsWith(ErrorKind::kCancelled));
}

// What the interception handler decides on: may the code be run again elsewhere?
TEST_F(OpenSandboxRenewTest, ARunWhoseSandboxIsGoneBeforehandDidNotHappen) {
  script().Then(Refused()).Then(Reply(404, "")).Then(Reply(404, ErrorJson("X", "no")));
  EXPECT_THAT(provider().RunCode(Handle(), {.code = "1"}),
              FailsWith(ErrorKind::kSandboxGone, Field(&Error::outcome, Outcome::kDidNotHappen)));
}

}  // namespace
}  // namespace opensandbox
