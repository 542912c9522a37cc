// A create whose answer is lost, wrong or a lie: at most one sandbox lives, and none unnamed.
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT: this project's
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char kPost[] = "POST http://api.example/v1/sandboxes";
const char kDeleteA[] = "DELETE http://api.example/v1/sandboxes/sb-a";

class OpenSandboxLostCreateTest : public ProviderTest {
 protected:
  OpenSandboxLostCreateTest() : tag_(FirstTag()) {}

  std::string ListLine() const {
    return "GET http://api.example/v1/sandboxes?metadata=opensandbox-client%2Fcreate-id%3D" + tag_;
  }
  Exchange Found(const std::vector<std::string>& ids) { return Reply(200, ListJson(ids, tag_)); }
  Exchange Nothing() { return Found({}); }
  Exchange Deleted() { return Reply(204, ""); }
  Exchange Created(const std::string& id = "sb-a") { return Reply(202, SandboxJson(id, "Running")); }
  Exchange Ready() { return Reply(200, EndpointJson()); }
  Result<SandboxHandle> Create() { return provider().CreateSandbox({}); }
  std::size_t Count(const std::string& method) const {
    std::size_t count = 0;
    for (const auto& seen : transport_->seen()) count += seen.request.method == method ? 1 : 0;
    return count;
  }

  const std::string tag_;
};

TEST_F(OpenSandboxLostCreateTest, WhatIsFoundIsDeletedAndNamed) {
  script().Then(Reset()).Then(Found({"sb-a"})).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown,
                                  AllOf(Field(&Error::outcome, Outcome::kUnknown), Field(&Error::sandbox_id, "sb-a"),
                                        Field(&Error::cleanup, Cleanup::kDeleted), Field(&Error::attempts, 1),
                                        Field(&Error::operation, "createSandbox"))));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, ListLine(), kDeleteA));
  EXPECT_EQ(SentTag(), tag_);
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxLostCreateTest, WhatIsFoundIsAdoptedIfAsked) {
  options_.lost_create = LostCreatePolicy::kAdopt;
  script().Then(Reset()).Then(Found({"sb-a", "sb-b"})).Then(Deleted()).Then(Ready());
  const Result<SandboxHandle> handle = Create();
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->id, "sb-a");
  EXPECT_EQ(script().lines()[2], "DELETE http://api.example/v1/sandboxes/sb-b");
  EXPECT_EQ(Count("POST"), 1u);
}

TEST_F(OpenSandboxLostCreateTest, ALateCommitIsStillFound) {
  script().Then(Reset());
  for (int i = 0; i < 7; ++i) script().Then(Nothing());
  script().Then(Found({"sb-a"})).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::cleanup, Cleanup::kDeleted)));
  EXPECT_EQ(Elapsed(), 22500ms);
}

TEST_F(OpenSandboxLostCreateTest, NothingFoundReliablyIsNoLeakButStillUnknown) {
  script().Then(Reset());
  script().Otherwise([this](const HttpRequest&) { return Nothing(); });
  EXPECT_THAT(Create(),
              FailsWith(ErrorKind::kOutcomeUnknown,
                        AllOf(Field(&Error::outcome, Outcome::kUnknown), Field(&Error::sandbox_id, ""),
                              Field(&Error::cleanup, Cleanup::kNotNeeded), Field(&Error::message, HasSubstr(tag_)))));
  EXPECT_LE(Elapsed(), 25s);
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
  EXPECT_EQ(Count("POST"), 1u);
}

TEST_F(OpenSandboxLostCreateTest, ALookUpThatDoesNotTellIsALeakUnderTheTag) {
  script().Then(Reset());
  script().Otherwise([](const HttpRequest&) { return Reply(503, ""); });
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::cleanup, Cleanup::kFailed)));
  ASSERT_EQ(leaks_.Leaks().size(), 1u);
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "");
  EXPECT_EQ(leaks_.Leaks()[0].metadata_tag, tag_);
  EXPECT_LE(Elapsed(), 25s);
}

TEST_F(OpenSandboxLostCreateTest, ALookUpThatIsRefusedIsNotRepeated) {
  for (const auto& refusal : {Reply(401, "{}"), Reply(404, "{}"), Reply(405, ""), Reply(200, "<html>"),
                              Reply(200, "{}"), Reply(200, R"({"items":5})")}) {
    script().Then(Reset()).Then(refusal);
    EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::cleanup, Cleanup::kFailed)));
  }
  EXPECT_EQ(leaks_.Leaks().size(), 6u);
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxLostCreateTest, ALookUpRecoversFromAFailureInBetween) {
  script().Then(Reset()).Then(Reset()).Then(Reply(500, "")).Then(Found({"sb-a"})).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::cleanup, Cleanup::kDeleted)));
}

TEST_F(OpenSandboxLostCreateTest, SandboxesOfOthersAreNeverTouched) {
  // A server that ignores the filter lists everything, on several pages.
  script().Then(Reset());
  script().Then(Reply(200,
                      R"({"items":[{"id":"other","metadata":{"opensandbox-client/create-id":"x"}},{"id":"bare"},7],)"
                      R"("pagination":{"hasNextPage":true}})"));
  script().Then(Found({"sb-a"})).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::sandbox_id, "sb-a")));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, ListLine(), ListLine() + "&page=2", kDeleteA));
}

TEST_F(OpenSandboxLostCreateTest, AnEndlessListIsGivenUpOn) {
  script().Then(Reset());
  script().Otherwise(
      [](const HttpRequest&) { return Reply(200, R"({"items":[],"pagination":{"hasNextPage":true}})"); });
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::cleanup, Cleanup::kFailed)));
  EXPECT_EQ(script().seen().size(), 11u);
  EXPECT_EQ(leaks_.Leaks().size(), 1u);
}

TEST_F(OpenSandboxLostCreateTest, AFailedDeleteOfWhatWasFoundIsALeakUnderItsId) {
  script().Then(Reset()).Then(Found({"sb-a"})).Then(Reply(401, ErrorJson("X", "no")));
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown,
                                  AllOf(Field(&Error::cleanup, Cleanup::kFailed), Field(&Error::sandbox_id, "sb-a"),
                                        Field(&Error::cleanup_message, "no"))));
  ASSERT_EQ(leaks_.Leaks().size(), 1u);
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "sb-a");
  EXPECT_EQ(leaks_.Leaks()[0].metadata_tag, tag_);
}

TEST_F(OpenSandboxLostCreateTest, ARequestTimeoutIsALostAnswerToo) {
  options_.create_request_timeout = 60s;
  script().Then(NeverAnswers()).Then(Found({"sb-a"})).Then(Deleted());
  EXPECT_THAT(Create(),
              FailsWith(ErrorKind::kOutcomeUnknown, AllOf(Field(&Error::timeout_clock, TimeoutClock::kRequest),
                                                          Field(&Error::cleanup, Cleanup::kDeleted))));
  EXPECT_EQ(Elapsed(), 60s);
}

TEST_F(OpenSandboxLostCreateTest, AnAnswerThatIsNoHttpIsALostAnswerToo) {
  script().Then(Fails(ErrorKind::kProtocol, Outcome::kUnknown)).Then(Found({"sb-a"})).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kOutcomeUnknown, Field(&Error::cleanup, Cleanup::kDeleted)));
}

TEST_F(OpenSandboxLostCreateTest, ASuccessWithoutAnIdIsAProtocolErrorAndCleanedUp) {
  for (const char* body : {"", "{}", "<html>", "[]", R"({"id":5})", R"({"id":".."})", R"({"id":null})"}) {
    options_.transport = transport_ = std::make_shared<ScriptedTransport>();
    script().Then(Reply(202, body)).Then(Found({"sb-a"})).Then(Deleted());
    EXPECT_THAT(MakeOpenSandboxProvider(options_)->CreateSandbox({}),
                FailsWith(ErrorKind::kProtocol,
                          AllOf(Field(&Error::cleanup, Cleanup::kDeleted), Field(&Error::sandbox_id, "sb-a"),
                                Field(&Error::http_status, 202), Field(&Error::attempts, 1))))
        << body;
    EXPECT_THAT(script().lines(), ElementsAre(kPost, ListLine(), kDeleteA));
  }
}

TEST_F(OpenSandboxLostCreateTest, UnsentRequestsAreRetriedByPolicy) {
  script().Then(Refused()).Then(Fails(ErrorKind::kTimeout, Outcome::kDidNotHappen, TimeoutClock::kConnect));
  script().Then(Created()).Then(Ready());
  EXPECT_THAT(Create(), IsOk());
  EXPECT_EQ(Count("POST"), 3u);
  EXPECT_EQ(Elapsed(), 600ms);
  for (int i = 0; i < 4; ++i) script().Then(Refused());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kTransport,
                                  AllOf(Field(&Error::outcome, Outcome::kDidNotHappen), Field(&Error::attempts, 4),
                                        Field(&Error::cleanup, Cleanup::kNotNeeded))));
}

TEST_F(OpenSandboxLostCreateTest, TooManyRequestsIsRetriedWithoutALookUp) {
  script().Then(Reply(429, "", {{"Retry-After", "4"}})).Then(Created()).Then(Ready());
  EXPECT_THAT(Create(), IsOk());
  EXPECT_EQ(script().lines()[1], kPost);
  EXPECT_EQ(Elapsed(), 4s);
}

TEST_F(OpenSandboxLostCreateTest, ClientErrorsAreFinal) {
  for (const int status : {400, 401, 403, 404, 409, 422}) {
    script().Then(Reply(status, ErrorJson("CODE", "text")));
    EXPECT_THAT(Create(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::http_status, status),
                                                           Field(&Error::code, "CODE"), Field(&Error::message, "text"),
                                                           Field(&Error::outcome, Outcome::kDidNotHappen),
                                                           Field(&Error::cleanup, Cleanup::kNotNeeded))));
  }
  EXPECT_EQ(script().seen().size(), 6u);
}

TEST_F(OpenSandboxLostCreateTest, AServerErrorIsLookedUpButNotRepeated) {
  script().Then(Reply(500, ErrorJson("DOCKER::SANDBOX_START_FAILED", "no"))).Then(Nothing());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::http_status, 500), Field(&Error::message, "no"),
                                                         Field(&Error::cleanup, Cleanup::kNotNeeded))));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, ListLine()));
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxLostCreateTest, UnavailableThenGoodIsRetriedAfterALookUp) {
  script().Then(Reply(503, "", {{"Retry-After", "2"}})).Then(Nothing()).Then(Created()).Then(Ready()).Then(Nothing());
  EXPECT_THAT(Create(), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre(kPost, ListLine(), kPost, HasSubstr("/endpoints/"), ListLine()));
  EXPECT_EQ(script().seen()[1].at, 2s);
  EXPECT_EQ(SentTag(0), SentTag(2));
}

TEST_F(OpenSandboxLostCreateTest, UnavailableAlthoughCommittedLeavesOnlyOneAlive) {
  script().Then(Reply(503, "")).Then(Found({"sb-a"})).Then(Deleted()).Then(Created("sb-b")).Then(Ready());
  script().Then(Found({"sb-b"}));
  const Result<SandboxHandle> handle = Create();
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->id, "sb-b");
  EXPECT_EQ(Count("DELETE"), 1u);
}

TEST_F(OpenSandboxLostCreateTest, UnavailableAlthoughCommittedIsAdoptedIfAsked) {
  options_.lost_create = LostCreatePolicy::kAdopt;
  script().Then(Reply(503, "")).Then(Found({"sb-a"})).Then(Ready()).Then(Found({"sb-a"}));
  const Result<SandboxHandle> handle = Create();
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->id, "sb-a");
  EXPECT_EQ(Count("POST"), 1u);
  EXPECT_EQ(Count("DELETE"), 0u);
}

TEST_F(OpenSandboxLostCreateTest, ATwinThatAppearsLateIsDeletedInTheEnd) {
  script().Then(Reply(504, "")).Then(Nothing()).Then(Created("sb-b")).Then(Ready());
  script().Then(Found({"sb-a", "sb-b"})).Then(Deleted());
  const Result<SandboxHandle> handle = Create();
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->id, "sb-b");
  EXPECT_EQ(script().lines().back(), kDeleteA);
}

TEST_F(OpenSandboxLostCreateTest, NoRepeatWhenTheLookUpDoesNotTell) {
  script().Then(Reply(503, "")).Then(Reply(401, ""));
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kApi,
                                  AllOf(Field(&Error::http_status, 503), Field(&Error::cleanup, Cleanup::kFailed))));
  EXPECT_EQ(Count("POST"), 1u);
  EXPECT_EQ(leaks_.Leaks().size(), 1u);
}

TEST_F(OpenSandboxLostCreateTest, UnavailableForEverEndsWithALookUp) {
  for (int i = 0; i < 4; ++i) script().Then(Reply(503, "")).Then(Nothing());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::http_status, 503), Field(&Error::attempts, 4),
                                                         Field(&Error::cleanup, Cleanup::kNotNeeded))));
  EXPECT_EQ(Count("POST"), 4u);
  EXPECT_EQ(Count("GET"), 4u);
  EXPECT_EQ(script().left(), 0u);
}

TEST_F(OpenSandboxLostCreateTest, CancelledInThePauseBeforeARepeatLooksOnceMore) {
  std::stop_source source;
  Exchange busy = Reply(503, "", {{"Retry-After", "20"}});
  busy.before = [&source] { source.request_stop(); };
  script().Then(busy).Then(Found({"sb-a"})).Then(Deleted());
  CreateSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().CreateSandbox(request),
              FailsWith(ErrorKind::kCancelled, Field(&Error::cleanup, Cleanup::kDeleted)));
  EXPECT_EQ(Elapsed(), 0s);
}

}  // namespace
}  // namespace opensandbox
