#include "emulator/faults/patch_fault.h"

#include <nlohmann/json.hpp>

namespace opensandbox::emulator {

ReplyPlan ApplyPatch(const std::string& patch, ReplyPlan plan, Acted acted) {
  using Json = nlohmann::ordered_json;
  if (plan.source != nullptr) return plan;
  Json body = Json::parse(plan.body, nullptr, false);
  if (!body.is_object()) return plan;
  body.merge_patch(Json::parse(patch, nullptr, false));
  plan.SetBody(body.dump(-1, ' ', false, Json::error_handler_t::replace));
  SetActed(acted);
  return plan;
}

}  // namespace opensandbox::emulator
