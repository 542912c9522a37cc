#include "emulator/cmd/command_line.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <utility>

#include "emulator/cmd/process.h"

namespace opensandbox::emulator {
namespace {

namespace po = boost::program_options;

constexpr char kPositional[] = " arguments";  // no flag can be spelled like this
constexpr std::size_t kHelpColumn = 26;

}  // namespace

CommandLine::CommandLine(std::string command, std::string arguments_name, std::string text, std::string example,
                         std::vector<Flag> flags)
    : command_(std::move(command)),
      arguments_name_(std::move(arguments_name)),
      text_(std::move(text)),
      example_(std::move(example)),
      flags_(std::move(flags)) {}

ExitCode CommandLine::Parse(const std::vector<std::string>& arguments) {
  po::options_description options;
  options.add_options()("help,h", "");
  for (const Flag& flag : flags_) {
    if (flag.value.empty()) {
      options.add_options()(flag.name.c_str(), "");
    } else {
      options.add_options()(flag.name.c_str(), po::value<std::vector<std::string>>(), "");
    }
  }
  options.add_options()(kPositional, po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add(kPositional, -1);
  try {
    const auto parsed = po::command_line_parser(arguments)
                            .options(options)
                            .positional(positional)
                            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                            .run();
    for (const po::option& option : parsed.options) {
      if (option.position_key >= 0 || option.string_key == kPositional) {
        arguments_.insert(arguments_.end(), option.value.begin(), option.value.end());
        continue;
      }
      std::vector<std::string>& values = values_[option.string_key];
      values.insert(values.end(), option.value.begin(), option.value.end());
    }
  } catch (const po::error& error) {
    Complain(error.what());
    return Finish();
  }
  if (Has("help")) {
    help_shown_ = true;
    return PrintData(Help()) ? ExitCode::kOk : ExitCode::kInputOutput;
  }
  for (const Flag& flag : flags_) {
    if (!flag.repeated && Values(flag.name).size() > 1) Complain("--" + flag.name + " was given more than once");
    for (const std::string& value : Values(flag.name)) {
      if (value.empty()) ComplainAbout(flag.name, value, flag.value);
    }
  }
  if (arguments_name_.empty() && !arguments_.empty()) Complain("unexpected argument '" + arguments_.front() + "'");
  if (!arguments_name_.empty() && arguments_.empty()) Complain("expected " + arguments_name_);
  return Finish();
}

std::optional<std::string> CommandLine::Value(const std::string& flag) const {
  const auto it = values_.find(flag);
  if (it == values_.end() || it->second.empty()) return std::nullopt;
  return it->second.back();
}

std::vector<std::string> CommandLine::Values(const std::string& flag) const {
  const auto it = values_.find(flag);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

std::optional<std::uint64_t> CommandLine::Number(const std::string& flag, std::uint64_t min, std::uint64_t max) {
  const auto text = Value(flag);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = text->data() + text->size();
  const auto [rest, status] = std::from_chars(text->data(), end, number);
  if (status == std::errc() && rest == end && number >= min && number <= max) return number;
  ComplainAbout(flag, *text, "a number from " + std::to_string(min) + " to " + std::to_string(max));
  return std::nullopt;
}

void CommandLine::Complain(const std::string& text) {
  if (complaint_.empty()) complaint_ = text;
}

void CommandLine::ComplainAbout(const std::string& flag, const std::string& found, const std::string& expected) {
  Complain("--" + flag + ": found \"" + found + "\", expected " + expected);
}

ExitCode CommandLine::Finish() const {
  if (complaint_.empty()) return ExitCode::kOk;
  Talk("opensandbox-emulator " + command_ + ": " + complaint_ + "; see 'opensandbox-emulator " + command_ +
       " --help'\n");
  return ExitCode::kBadUsage;
}

std::string CommandLine::Help() const {
  std::string text = "Usage: opensandbox-emulator " + command_;
  if (!arguments_name_.empty()) text += " " + arguments_name_;
  text += " [FLAG...]\n\n" + text_ + "\n\nFlags:\n";
  std::vector<Flag> flags = flags_;
  flags.push_back({"help", "", "show this text", false});
  for (const Flag& flag : flags) {
    std::string left = "  --" + flag.name + (flag.value.empty() ? "" : " " + flag.value);
    left +=
        left.size() < kHelpColumn ? std::string(kHelpColumn - left.size(), ' ') : "\n" + std::string(kHelpColumn, ' ');
    text += left;
    for (const char c : flag.help) {
      text += c;
      if (c == '\n') text += std::string(kHelpColumn, ' ');
    }
    text += "\n";
  }
  return text + "\nExample:\n  " + example_ + "\n";
}

}  // namespace opensandbox::emulator
