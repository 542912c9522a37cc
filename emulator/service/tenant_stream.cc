#include "emulator/service/tenant_stream.h"

#include <utility>

namespace opensandbox::emulator {
namespace {

class TenantStream : public BodySource {
 public:
  TenantStream(std::shared_ptr<Tenant> tenant, std::uint64_t world, std::shared_ptr<const Scenario> scenario,
               std::unique_ptr<BodySource> inner)
      : tenant_(std::move(tenant)), world_(world), scenario_(std::move(scenario)), inner_(std::move(inner)) {}
  ~TenantStream() override {
    if (number_ != 0) tenant_->streams.Leave(number_);
  }

  void BindWaker(std::shared_ptr<Waker> waker) override {
    number_ = tenant_->streams.Enter(waker);
    inner_->BindWaker(std::move(waker));
  }
  BodyStep Next(TimePoint now, WallTime wall_now) override {
    // A world that ended before BindWaker did not wake this stream; the first call notices it all the same.
    if (tenant_->world.load() != world_) return BodyStep::End(Ending::kNoTerminator);
    return inner_->Next(now, wall_now);
  }
  void ClientClosed(TimePoint now) override { inner_->ClientClosed(now); }

 private:
  // In this order: the inner source goes first.
  const std::shared_ptr<Tenant> tenant_;
  const std::uint64_t world_;
  const std::shared_ptr<const Scenario> scenario_;
  const std::unique_ptr<BodySource> inner_;
  std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<BodySource> MakeTenantStream(std::shared_ptr<Tenant> tenant, std::uint64_t world,
                                             std::shared_ptr<const Scenario> scenario,
                                             std::unique_ptr<BodySource> inner) {
  return std::make_unique<TenantStream>(std::move(tenant), world, std::move(scenario), std::move(inner));
}

}  // namespace opensandbox::emulator
