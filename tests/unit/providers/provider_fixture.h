// A provider on a scripted transport.
#ifndef OPENSANDBOX_TESTS_UNIT_PROVIDERS_PROVIDER_FIXTURE_H_
#define OPENSANDBOX_TESTS_UNIT_PROVIDERS_PROVIDER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opensandbox/providers/opensandbox_provider.h"
#include "tests/support/matchers.h"
#include "tests/unit/providers/scripted_transport.h"

namespace opensandbox::testing {

inline constexpr char kBase[] = "http://api.example/v1";

class ProviderTest : public ::testing::Test {
 protected:
  ProviderTest() {
    options_.api_base = kBase;
    options_.transport = transport_;
    options_.seed = 7;
    options_.retry.jitter = 0;
    options_.leak_sink = &leaks_;
    options_.getenv = [this](const std::string& name) {
      const auto it = environment_.find(name);
      return it == environment_.end() ? std::nullopt : std::optional<std::string>(it->second);
    };
  }

  // Made at first use; change `options_` before.
  SandboxProvider& provider() {
    if (provider_ == nullptr) provider_ = MakeOpenSandboxProvider(options_);
    return *provider_;
  }
  ScriptedTransport& script() { return *transport_; }
  Duration Elapsed() { return transport_->virtual_clock().Elapsed(); }

  // The value of the create tag in the recorded create request number `index`.
  std::string SentTag(std::size_t index = 0) {
    const std::string body = script().seen().at(index).request.body;
    const std::string before = std::string("\"") + kCreateTagKey + "\":\"";
    const std::size_t at = body.find(before);
    return at == std::string::npos ? "" : body.substr(at + before.size(), 32);
  }
  // The list answer that a server gives which has these sandboxes, with the tag of this provider's first create.
  static std::string ListJson(const std::vector<std::string>& ids, const std::string& tag, bool more = false) {
    std::string items;
    for (const std::string& id : ids) {
      if (!items.empty()) items += ",";
      items += R"({"id":")" + id + R"(","status":{"state":"Running"},"metadata":{")" + kCreateTagKey + R"(":")" + tag +
               R"("}})";
    }
    return R"({"items":[)" + items + R"(],"pagination":{"page":1,"hasNextPage":)" + (more ? "true" : "false") + "}}";
  }
  // Known before the create: the seed is fixed.
  std::string FirstTag() {
    auto transport = std::make_shared<ScriptedTransport>();
    OpenSandboxProviderOptions options = options_;
    options.transport = transport;
    options.retry.attempts_max = 1;
    options.leak_sink = nullptr;
    (void)MakeOpenSandboxProvider(options)->CreateSandbox({});
    const std::string body = transport->seen().at(0).request.body;
    const std::string before = std::string("\"") + kCreateTagKey + "\":\"";
    return body.substr(body.find(before) + before.size(), 32);
  }

  static SandboxHandle Handle(const std::string& id = "sb-1") {
    SandboxHandle handle;
    handle.id = id;
    handle.provider = "opensandbox";
    handle.domain = kBase;
    handle.execd_endpoint = "execd.example:44772";
    return handle;
  }

  std::shared_ptr<ScriptedTransport> transport_ = std::make_shared<ScriptedTransport>();
  LeakLedger leaks_;
  std::map<std::string, std::string> environment_;
  OpenSandboxProviderOptions options_;

 private:
  std::unique_ptr<SandboxProvider> provider_;
};

}  // namespace opensandbox::testing

#endif  // OPENSANDBOX_TESTS_UNIT_PROVIDERS_PROVIDER_FIXTURE_H_
