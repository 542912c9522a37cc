// Matchers for Result<T> and Error. Each prints the error that it saw.
#ifndef OPENSANDBOX_TESTS_SUPPORT_MATCHERS_H_
#define OPENSANDBOX_TESTS_SUPPORT_MATCHERS_H_

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <type_traits>

#include "opensandbox/base/result.h"

namespace opensandbox {

// GoogleTest finds these by argument-dependent look-up. Without them it prints bytes.
inline void PrintTo(const Error& error, std::ostream* os) { *os << error.Describe(); }
inline void PrintTo(ErrorKind kind, std::ostream* os) { *os << ToString(kind); }
inline void PrintTo(Outcome outcome, std::ostream* os) { *os << ToString(outcome); }
inline void PrintTo(Cleanup cleanup, std::ostream* os) { *os << ToString(cleanup); }
inline void PrintTo(TimeoutClock clock, std::ostream* os) { *os << ToString(clock); }

template <typename T>
void PrintTo(const Result<T>& result, std::ostream* os) {
  if (!result.has_value()) {
    *os << "the error: " << result.error().Describe();
    return;
  }
  if constexpr (std::is_void_v<T>) {
    *os << "success";
  } else {
    *os << "the value: " << ::testing::PrintToString(*result);
  }
}

namespace testing {

// Result<T>: it holds a value.
MATCHER(IsOk, std::string(negation ? "is an error" : "is a success")) { return arg.has_value(); }

// Result<T>: it holds a value that matches.
MATCHER_P(IsOkAndHolds, matcher,
          std::string(negation ? "is an error, or a value that does not match: "
                               : "is a success whose value matches: ") +
              ::testing::DescribeMatcher<typename std::decay_t<arg_type>::value_type>(matcher)) {
  if (!arg.has_value()) return false;
  return ::testing::ExplainMatchResult(matcher, *arg, result_listener);
}

// Result<T>: it is an error of that kind.
MATCHER_P(FailsWith, kind,
          std::string(negation ? "does not fail with kind " : "fails with kind ") + std::string(ToString(kind))) {
  return !arg.has_value() && arg.error().kind == kind;
}

// Result<T>: it is an error of that kind whose other properties match.
MATCHER_P2(FailsWith, kind, matcher,
           std::string(negation ? "does not fail with kind " : "fails with kind ") + std::string(ToString(kind)) +
               " and an error that matches: " + ::testing::DescribeMatcher<Error>(matcher)) {
  if (arg.has_value() || arg.error().kind != kind) return false;
  return ::testing::ExplainMatchResult(matcher, arg.error(), result_listener);
}

// Result<T>: it is an error of the provider (kApi) with that code.
MATCHER_P(HasApiCode, code,
          std::string(negation ? "has not" : "has") + " the API error code " +
              ::testing::PrintToString(std::string(code))) {
  return !arg.has_value() && arg.error().kind == ErrorKind::kApi && arg.error().code == code;
}

}  // namespace testing
}  // namespace opensandbox

#endif  // OPENSANDBOX_TESTS_SUPPORT_MATCHERS_H_
