// Result<T>: a value or an Error. A must-use subset of std::expected<T, Error>, which GCC 12 lacks in C++20 mode.
#ifndef OPENSANDBOX_BASE_RESULT_H_
#define OPENSANDBOX_BASE_RESULT_H_

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "opensandbox/base/error.h"

namespace opensandbox {

// Names and meaning are std::expected's. Operational failures are returned, never thrown; `value()` is the one way
// to turn a failure into an exception (ErrorException), for callers who prefer that.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : data_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : data_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const noexcept { return data_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  // Undefined unless has_value().
  T& operator*() & noexcept { return *std::get_if<0>(&data_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&data_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&data_)); }
  T* operator->() noexcept { return std::get_if<0>(&data_); }
  const T* operator->() const noexcept { return std::get_if<0>(&data_); }

  // Undefined if has_value().
  Error& error() & noexcept { return *std::get_if<1>(&data_); }
  const Error& error() const& noexcept { return *std::get_if<1>(&data_); }
  Error&& error() && noexcept { return std::move(*std::get_if<1>(&data_)); }

  T& value() & {
    ThrowIfError();
    return **this;
  }
  const T& value() const& {
    ThrowIfError();
    return **this;
  }
  T&& value() && {
    ThrowIfError();
    return std::move(**this);
  }

  template <typename U>
  T value_or(U&& fallback) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(fallback));
  }

  template <typename F>
  auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
    if (!has_value()) return std::move(*this).error();
    return std::forward<F>(f)(std::move(**this));
  }

  template <typename F>
  auto transform(F&& f) && -> Result<std::invoke_result_t<F, T&&>> {
    if (!has_value()) return std::move(*this).error();
    return std::forward<F>(f)(std::move(**this));
  }

 private:
  void ThrowIfError() const {
#if defined(__cpp_exceptions)
    if (!has_value()) throw ErrorException(error());
#else
    if (!has_value()) __builtin_trap();
#endif
  }

  std::variant<T, Error> data_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  Error& error() & noexcept { return *error_; }
  const Error& error() const& noexcept { return *error_; }
  Error&& error() && noexcept { return std::move(*error_); }

  void value() const {
#if defined(__cpp_exceptions)
    if (!has_value()) throw ErrorException(*error_);
#else
    if (!has_value()) __builtin_trap();
#endif
  }

 private:
  std::optional<Error> error_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_RESULT_H_
