#include "opensandbox/transport/transport.h"

#include "client/transport/ascii.h"

namespace opensandbox {
std::optional<std::string> FindHeader(const std::vector<HeaderField>& headers, std::string_view name) {
  for (const HeaderField& field : headers) {
    if (internal::EqualsIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

}  // namespace opensandbox
