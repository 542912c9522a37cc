#include "emulator/scenario/loader.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "emulator/scenario/load_parts.h"
#include "emulator/scenario/matrix.h"

namespace opensandbox::emulator {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".scenario.json";
constexpr std::size_t kFileBytesMax = 4 << 20;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void LoadSchemaVersion(const ObjectReader& reader) {
  const std::optional<Spot> spot = reader.Find("schemaVersion");
  if (spot && !(spot->node->kind == JsonNode::Kind::kNumber && spot->node->text == "1")) {
    reader.Complain("schemaVersion", "found " + InWords(*spot->node) + ", expected the number 1");
  }
}

void LoadName(const ObjectReader& reader, Scenario* scenario) {
  const std::optional<std::string> name = reader.Text("name");
  if (!name) return;
  scenario->name = *name;
  if (name->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
    reader.Complain("name", "found " + Quoted(*name) + ", expected a name of lower-case letters, digits and hyphens");
  } else if (const std::string& expected = reader.context().expected_name; !expected.empty() && *name != expected) {
    reader.Complain("name", "found " + Quoted(*name) + ", expected the file's name, " + Quoted(expected));
  }
}

void LoadTags(const ObjectReader& reader, Scenario* scenario) {
  scenario->tags = reader.TextItems("tags");
  std::set<std::string> seen;
  for (const std::string& tag : scenario->tags) {
    if (!seen.insert(tag).second) {
      reader.Complain("tags", "found the tag " + Quoted(tag) + " a second time, expected each once");
    }
  }
}

// "virtual", "real" or "scale=10".
void LoadClock(const ObjectReader& reader, Scenario* scenario) {
  const std::optional<std::string> word = reader.Text("clock");
  if (!word) return;
  constexpr std::string_view kScale = "scale=";
  double scale = 0;
  if (*word == "virtual") {
    scenario->clock = ClockMode::kVirtual;
  } else if (*word == "real") {
    scenario->clock = ClockMode::kReal;
  } else if (word->rfind(kScale, 0) == 0) {
    const char* end = word->data() + word->size();
    const auto [rest, error] = std::from_chars(word->data() + kScale.size(), end, scale);
    if (error != std::errc() || rest != end || !(scale > 0) || scale > 1e6) {
      reader.Complain("clock", "found " + Quoted(*word) +
                                   ", expected a factor above 0 and at most 1000000, such as "
                                   "\"scale=10\"");
      return;
    }
    scenario->clock = ClockMode::kScaled;
    scenario->clock_scale = scale;
  } else {
    reader.Complain("clock", UnknownWord(Quoted(*word), *word, {"virtual", "real", "scale=10"}));
  }
}

void LoadScenario(LoadContext& context, const JsonNode& root, Scenario* scenario) {
  const ObjectReader reader(context, {&root, ""}, "scenario");
  context.has_seed = reader.Has("seed");
  reader.Text("$schema");
  LoadSchemaVersion(reader);
  LoadName(reader, scenario);
  scenario->description = reader.Text("description").value_or("");
  LoadTags(reader, scenario);
  scenario->seed = reader.Count("seed", 0);
  LoadClock(reader, scenario);
  reader.Word("profile");  // docker is the only one so far, and the default
  RuleIds ids;
  scenario->sandboxes = LoadSandboxes(reader, ids);
  scenario->execution = LoadExecution(reader, ids);
  scenario->faults = LoadFaults(reader, ids);
  scenario->listener = LoadListener(reader, ids);
  if (reader.Has("except")) reader.Complain("except", "found cases to leave out without a \"matrix\", expected both");
  scenario->client_settings = LoadClientSettings(reader);
  scenario->client = LoadClient(reader);
  scenario->expect = LoadExpectations(reader);
  if (reader.Has("clientSettings") && !reader.Has("client")) {
    reader.Complain("clientSettings", "found settings without \"client\", expected the steps that use them");
  }
}

// Empty on failure, with the reason in `why`.
std::string ReadFile(const std::string& path, std::string* why) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) {
    *why = error && error != std::errc::no_such_file_or_directory ? error.message() : "no such file";
    return "";
  }
  if (fs::is_directory(status)) {
    *why = "found a folder, expected a file";
    return "";
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    *why = std::string("can't be read: ") + std::strerror(errno);
    return "";
  }
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) {
    *why = std::string("can't be read: ") + std::strerror(errno);
    return "";
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kFileBytesMax) *why = "found more than 4 MiB, expected a smaller file";
  return text;
}

// How many things it had something to say about: files, found before or not, and problems.
std::size_t FindBelow(const fs::path& folder, FoundScenarios* found, std::set<std::string>* seen) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
  if (error) {
    found->problems.push_back({folder.string(), 0, "", "can't be read: " + error.message()});
    return 1;
  }
  std::size_t count = 0;
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    // A folder behind a symbolic link might contain itself.
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) {
      count += FindBelow(entry.path(), found, seen);
    } else if (EndsWith(entry.path().filename().string(), kSuffix)) {
      const std::string path = entry.path().lexically_normal().string();
      if (seen->insert(path).second) found->files.push_back(path);
      ++count;
    }
  }
  return count;
}

}  // namespace

std::string Problem::Text() const {
  std::string text = file.empty() ? "scenario" : file;
  if (line > 0) text += ":" + std::to_string(line);
  text += ": ";
  if (line > 0) text += (pointer.empty() ? "/" : pointer) + ": ";
  return text + message;
}

namespace {

// Each case says the same of what is wrong in all of them.
void DropRepeated(std::vector<Problem>* problems) {
  std::set<std::string> seen;
  std::erase_if(*problems, [&](const Problem& problem) { return !seen.insert(problem.Text()).second; });
}

LoadedScenario Parse(std::string_view text, const std::string& file, const std::string& expected_name) {
  LoadContext context;
  context.file = file;
  context.expected_name = expected_name;
  LoadedScenario loaded;
  const auto load = [&](const JsonNode& root, const std::string& suffix) {
    auto scenario = std::make_shared<Scenario>();
    scenario->file = file;
    LoadScenario(context, root, scenario.get());
    if (!suffix.empty()) scenario->name += "-" + suffix;
    loaded.cases.push_back(std::move(scenario));
  };
  const std::optional<JsonNode> root = ParseJson(text, file, &context.problems);
  if (root && root->kind == JsonNode::Kind::kObject && root->Find("matrix") != nullptr) {
    for (const MatrixCase& one : ExpandMatrix(*root, context)) load(one.root, one.suffix);
  } else if (root) {
    load(*root, "");
  }
  std::stable_sort(context.problems.begin(), context.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  DropRepeated(&context.problems);
  loaded.problems = std::move(context.problems);
  if (!loaded.problems.empty()) loaded.cases.clear();
  if (!loaded.cases.empty()) loaded.scenario = loaded.cases.front();
  return loaded;
}

}  // namespace

LoadedScenario ParseScenario(std::string_view text, const std::string& file) { return Parse(text, file, ""); }

LoadedScenario LoadScenarioFile(const std::string& path) {
  std::string why;
  const std::string text = ReadFile(path, &why);
  if (!why.empty()) return {nullptr, {}, {{path, 0, "", why}}};
  std::string name = fs::path(path).filename().string();
  name = EndsWith(name, kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : "";
  return Parse(text, path, name);
}

FoundScenarios FindScenarioFiles(const std::vector<std::string>& paths) {
  FoundScenarios found;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      const bool missing = !error || error == std::errc::no_such_file_or_directory;
      found.problems.push_back({path, 0, "", missing ? "no such file or folder" : "can't be read: " + error.message()});
    } else if (!fs::is_directory(status)) {
      const std::string file = fs::path(path).lexically_normal().string();
      if (seen.insert(file).second) found.files.push_back(file);
    } else if (FindBelow(path, &found, &seen) == 0) {
      found.problems.push_back({path, 0, "", "found no file whose name ends in .scenario.json"});
    }
  }
  std::sort(found.files.begin(), found.files.end());
  return found;
}

}  // namespace opensandbox::emulator
