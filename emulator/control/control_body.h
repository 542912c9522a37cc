// Reads what clients of the control API send.
#ifndef OPENSANDBOX_EMULATOR_CONTROL_CONTROL_BODY_H_
#define OPENSANDBOX_EMULATOR_CONTROL_CONTROL_BODY_H_

#include <string>
#include <vector>

#include "emulator/control/control_json.h"
#include "emulator/core/http_message.h"
#include "emulator/service/emulator.h"
#include "opensandbox/base/result.h"

namespace opensandbox::emulator {

// Errors are kInvalidArgument with a sentence that names the field.

struct TenantBody {
  TenantOptions options;          // without name; `scenario` is null if none was given or it has problems
  std::vector<Problem> problems;  // of the scenario
};
// {"apiKey": "...", "scenario"?: object or text, "seed"?: integer, "clock"?: "real" | "virtual" | "scale=N",
// "strict"?: bool}
Result<TenantBody> ParseTenantBody(const std::string& body);

// {"by": "30s"}
Result<Duration> ParseAdvanceBody(const std::string& body);

// ?after=N&limit=M
Result<Page> ParsePage(const Request& request);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CONTROL_CONTROL_BODY_H_
