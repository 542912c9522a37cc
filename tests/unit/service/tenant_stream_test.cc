#include "emulator/service/tenant_stream.h"

#include <gtest/gtest.h>

#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

struct Seen {
  bool bound = false, client_closed = false, gone = false;
  int asked = 0;
};

class EndlessSource : public BodySource {
 public:
  explicit EndlessSource(Seen& seen) : seen_(seen) {}
  ~EndlessSource() override { seen_.gone = true; }
  void BindWaker(std::shared_ptr<Waker> waker) override { seen_.bound = waker != nullptr; }
  BodyStep Next(TimePoint, WallTime) override {
    ++seen_.asked;
    return BodyStep::Wait(std::nullopt);
  }
  void ClientClosed(TimePoint) override { seen_.client_closed = true; }

 private:
  Seen& seen_;
};

class TenantStreamTest : public ::testing::Test {
 protected:
  VirtualClock clock_{VirtualClock::Options{.auto_jump = false}};
  std::shared_ptr<Tenant> tenant_ = std::make_shared<Tenant>();
  Seen seen_;

  std::unique_ptr<BodySource> Make() {
    return MakeTenantStream(tenant_, tenant_->world.load(), nullptr, std::make_unique<EndlessSource>(seen_));
  }
  bool Woken(Waker& waker) { return clock_.Wait({.deadline = clock_.Now(), .waker = &waker}) == WaitOutcome::kWoken; }
};

TEST_F(TenantStreamTest, PassesEverythingOnWhileItsWorldLasts) {
  auto stream = Make();
  const auto waker = clock_.NewWaker();
  stream->BindWaker(waker);
  EXPECT_TRUE(seen_.bound);
  EXPECT_EQ(tenant_->streams.size(), 1u);
  EXPECT_EQ(stream->Next(clock_.Now(), clock_.WallNow()).kind, BodyStep::Kind::kWait);
  EXPECT_EQ(seen_.asked, 1);
  stream->ClientClosed(clock_.Now());
  EXPECT_TRUE(seen_.client_closed);
  EXPECT_FALSE(Woken(*waker));
  stream.reset();
  EXPECT_TRUE(seen_.gone);
  EXPECT_EQ(tenant_->streams.size(), 0u);
}

TEST_F(TenantStreamTest, AnotherWorldWakesAndEndsIt) {
  auto stream = Make();
  const auto waker = clock_.NewWaker();
  stream->BindWaker(waker);
  ++tenant_->world;
  tenant_->streams.WakeAll();
  EXPECT_TRUE(Woken(*waker));
  const BodyStep step = stream->Next(clock_.Now(), clock_.WallNow());
  EXPECT_EQ(step.kind, BodyStep::Kind::kEnd);
  EXPECT_EQ(step.ending, Ending::kNoTerminator);
  EXPECT_EQ(seen_.asked, 0);
}

TEST_F(TenantStreamTest, HoldsTheTenant) {
  auto stream = Make();
  std::weak_ptr<Tenant> tenant = tenant_;
  tenant_.reset();
  EXPECT_FALSE(tenant.expired());
  stream.reset();
  EXPECT_TRUE(tenant.expired());
}

}  // namespace
}  // namespace opensandbox::emulator
