#include <utility>

#include "client/providers/opensandbox_provider_impl.h"
#include "opensandbox/providers/opensandbox_provider.h"

namespace opensandbox::internal {
namespace {

// A server that ignores the filter lists everything, newest first: what was just created stands on the first pages.
constexpr int kPagesMax = 10;

}  // namespace

OpenSandboxProvider::LookUp OpenSandboxProvider::FindByTag(const std::string& tag, const CallScope& scope) {
  LookUp look;
  for (int page = 1; page <= kPagesMax; ++page) {
    LifecycleRequest request;
    request.operation = "listSandboxes";
    request.method = "GET";
    request.path = "/sandboxes?" + CreateTagQuery(tag);
    if (page > 1) request.path += "&page=" + std::to_string(page);
    request.timeout = options_.request_timeout;
    const Result<HttpResponse> response = calls_.Once(request, scope);
    Result<SandboxPage> parsed = response ? ParseSandboxPage(*response) : response.error();
    if (!parsed) {
      look.hopeless = IsRefusal(parsed.error());
      look.why_not = parsed.error().message;
      return look;
    }
    for (SandboxRecord& record : parsed->records) {
      // Compared here too: what does not carry the tag is somebody else's and must not be touched.
      if (record.create_tag == tag && CheckSandboxId(record.id)) look.found.push_back(std::move(record));
    }
    if (!parsed->has_next_page) {
      look.reliable = true;
      return look;
    }
  }
  look.hopeless = true;
  look.why_not = "the list of sandboxes has more than " + std::to_string(kPagesMax) + " pages";
  return look;
}

}  // namespace opensandbox::internal
