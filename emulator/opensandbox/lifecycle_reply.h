// Replies of the lifecycle server: its headers in its order, its three shapes of errors.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_REPLY_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_REPLY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/http_message.h"
#include "emulator/core/reply_plan.h"
#include "emulator/opensandbox/lifecycle_validation.h"
#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// Makes replies to one request.
class LifecycleReplies {
 public:
  LifecycleReplies(const Request& request, const std::string& request_id, WallTime wall_now)
      : request_(request), request_id_(request_id), wall_now_(wall_now) {}

  ReplyPlan Answer(int status, std::string body) const;
  // Flat {"code","message"}.
  ReplyPlan Error(int status, std::string_view code, std::string_view message) const;
  // {"detail":"Not Found"} and the like.
  ReplyPlan Detail(int status, std::string_view detail) const;
  ReplyPlan MethodNotAllowed(std::string_view allow) const;
  // 422, or the bare 500 if what was sent can't be echoed.
  ReplyPlan Invalid(const ValidationErrors& errors) const;
  // 202 without a body, or 204.
  ReplyPlan Empty(int status) const;
  ReplyPlan Redirect(std::string location) const;
  ReplyPlan Preflight() const;
  // An unhandled exception: text, no request id.
  ReplyPlan Crash() const;

 private:
  ReplyPlan Make(int status, std::vector<Header> before, std::string_view content_type, std::string body,
                 std::vector<Header> after) const;
  void Finish(ReplyPlan& plan) const;

  const Request& request_;
  const std::string& request_id_;
  WallTime wall_now_;
};

// The JSON body of a request, as FastAPI sees it: absent and null are nullptr-like (kind null), a body with another
// content type is a string. With a reply instead if it can't be read at all.
struct RequestBody {
  Json value;
  std::optional<ReplyPlan> refusal;
};
RequestBody ReadJsonBody(const Request& request, const LifecycleReplies& replies);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_REPLY_H_
