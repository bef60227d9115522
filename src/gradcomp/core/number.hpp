#pragma once
// Numbers in texts that users give.
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace gradcomp {

/// The decimal number that the whole of `text` is; nothing if it is something else, such as "12abc", " 4" or "0x10", or
/// if T cannot hold it. The locale has no influence.
template <class T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace gradcomp
