#pragma once
// Texts that users give are UTF-8 (RFC 3629), because result files are.
#include <cstddef>
#include <string>
#include <string_view>

namespace gradcomp {

/// Bytes of the character (code point) at text[i]; 0 if none begins there.
std::size_t character_size(std::string_view text, std::size_t i);

/// Throws Error that begins with `what` unless `text` is UTF-8 without zero bytes. Bytes are counted from 0.
void require_text(const std::string& what, std::string_view text);

/// `text` as one line that a terminal shows: bytes that are no printable character become \n, \x1b and so on.
std::string as_line(std::string_view text);

}  // namespace gradcomp
