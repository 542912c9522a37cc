// The Sandbox object and what belongs to it.
#include <algorithm>
#include <cstdint>

#include "emulator/opensandbox/lifecycle_datetime.h"
#include "emulator/opensandbox/lifecycle_handlers.h"
#include "opensandbox/base/random.h"

namespace opensandbox::emulator {
namespace {

// The engine stamps the container a moment after the server has stamped its 202 (wire reference 1.6: "differs from the
// create answer by a few ms"; 0.1 to 0.5 ms in the recordings), so GET's createdAt is never that of the create answer.
constexpr std::int64_t kEngineLagMicros = 287;

// A century or three: enough for a timer, and far from the ends of TimePoint and WallTime.
constexpr std::int64_t kTimerSecondsMax = std::int64_t{100} * 366 * 86400;

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

// Labels of the container that the server keeps to itself.
bool IsHiddenLabel(std::string_view key) {
  return StartsWith(key, kReservedLabelPrefix) || StartsWith(key, "org.opencontainers.image.") ||
         StartsWith(key, "com.docker.") || StartsWith(key, "desktop.docker.");
}

// The engine's own name of an image: with the tag that is meant when none is given.
std::string ImageTag(const std::string& uri) {
  const std::size_t slash = uri.rfind('/');
  const std::string_view name = std::string_view(uri).substr(slash == std::string::npos ? 0 : slash + 1);
  return name.find_first_of(":@") == std::string_view::npos ? uri + ":latest" : uri;
}

void AppendText(std::string& out, std::string_view key, std::string_view value) {
  out.append(key);
  AppendJsonString(out, value);
}

}  // namespace

StringPairs VisibleMetadata(const Sandbox& sandbox) {
  if (sandbox.metadata_patched) return sandbox.patched_metadata;
  StringPairs visible = sandbox.spec.metadata;
  std::erase_if(visible, [](const auto& entry) { return IsHiddenLabel(entry.first); });
  return visible;
}

void AppendSandbox(std::string& out, const Sandbox& sandbox) {
  const std::int64_t created = MicrosOf(sandbox.created_wall) + kEngineLagMicros;
  const std::int64_t changed =
      sandbox.last_transition == sandbox.created_wall ? created : MicrosOf(sandbox.last_transition);
  AppendText(out, "{\"id\":", sandbox.id);
  if (!sandbox.spec.image.empty()) {
    AppendText(out, ",\"image\":{\"uri\":", ImageTag(sandbox.spec.image));
    out.push_back('}');
  }
  if (!sandbox.spec.snapshot_id.empty()) AppendText(out, ",\"snapshotId\":", sandbox.spec.snapshot_id);
  if (!sandbox.spec.platform_os.empty()) {
    AppendText(out, ",\"platform\":{\"os\":", sandbox.spec.platform_os);
    AppendText(out, ",\"arch\":", sandbox.spec.platform_arch);
    out.push_back('}');
  }
  AppendText(out, ",\"status\":{\"state\":", sandbox.state);
  if (!sandbox.reason.empty()) AppendText(out, ",\"reason\":", sandbox.reason);
  if (!sandbox.message.empty()) AppendText(out, ",\"message\":", sandbox.message);
  AppendText(out, ",\"lastTransitionAt\":", FormatMicros(changed));
  out.push_back('}');
  if (const StringPairs metadata = VisibleMetadata(sandbox); !metadata.empty()) {
    out.append(",\"metadata\":{");
    bool first = true;
    for (const auto& [key, value] : metadata) {
      if (!first) out.push_back(',');
      first = false;
      AppendJsonString(out, key);
      out.push_back(':');
      AppendJsonString(out, value);
    }
    out.push_back('}');
  }
  out.append(",\"entrypoint\":[");
  for (std::size_t i = 0; i < sandbox.spec.entrypoint.size(); ++i) {
    if (i > 0) out.push_back(',');
    AppendJsonString(out, sandbox.spec.entrypoint[i]);
  }
  out.push_back(']');
  if (sandbox.expires_shown.has_value()) AppendText(out, ",\"expiresAt\":", FormatMicros(*sandbox.expires_shown));
  AppendText(out, ",\"createdAt\":", FormatMicros(created));
  out.push_back('}');
}

void SetExpiryMicros(SandboxStore& store, Sandbox& sandbox, std::int64_t micros, TimePoint now, WallTime wall_now) {
  const std::int64_t now_micros = MicrosOf(wall_now);
  const std::int64_t left = std::min(micros - now_micros, kTimerSecondsMax * 1000000);
  // The part of wall_now below a microsecond is not shown but counts: the timer ends exactly at the shown instant.
  const Duration until = std::chrono::microseconds(now_micros + left) - wall_now.time_since_epoch();
  store.SetExpiry(sandbox, now + until, wall_now + until);
  sandbox.expires_shown = micros;
}

std::string ContainerId(const Sandbox& sandbox) {
  static constexpr char kDigits[] = "0123456789abcdef";
  SeededRandom random = SeededRandom::ForPurpose(0, sandbox.id);
  std::string id;
  for (int word = 0; word < 4; ++word) {
    std::uint64_t bits = random.Next();
    for (int i = 0; i < 16; ++i, bits >>= 4) id.push_back(kDigits[bits & 15]);
  }
  return id;
}

}  // namespace opensandbox::emulator
