#include "gradcomp/core/utf8.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

std::size_t character_size(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0   ? 2
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
  for (std::size_t k = 1; k < size; ++k) {
    if ((byte(k) & 0xC0U) != 0x80) return 0;
  }
  // Surrogates and codes that are longer than needed are not allowed.
  const unsigned second = byte(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : size;
}

void require_text(const std::string& what, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_size(text, i);
    require(size > 0, "{} is not UTF-8 text: no character begins at byte {}", what, i);
    require(text[i] != '\0', "{} is not UTF-8 text: byte {} is 0, as in UTF-16 and in binary files", what, i);
    i += size;
  }
}

std::string as_line(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_size(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      line += "\\n";
    } else if (size == 0 || byte < 0x20 || byte == 0x7F) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += text.substr(i, size);
    }
    i += std::max<std::size_t>(size, 1);
  }
  return line;
}

}  // namespace gradcomp
