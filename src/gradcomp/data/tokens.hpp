#pragma once
// From text to numbers: tokens and their vocabulary.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

enum class Level : std::uint8_t {
  split,       ///< what white space separates, as it stands; for published texts, which are split into words already
  words,       ///< words (letters, digits and bytes above 127; an apostrophe between two of them belongs to the word);
               ///< every other character but white space is a token of its own
  characters,  ///< every character (UTF-8 code point), line ends too
};

constexpr std::string_view unknown_token = "<unk>", end_token = "<eos>";

/// A to Z become a to z; other letters stay.
void to_lower_case(std::string& text);

/// Calls `visit` with the tokens in order. Except at the level of characters every line, also an empty one, ends in
/// "<eos>". Throws Error, beginning with `path`, where `text` is no UTF-8.
void for_each_token(const std::string& path, std::string_view text, Level level,
                    const std::function<void(std::string_view token)>& visit);

/// The tokens that have a number: most frequent first (ties in the order of their bytes), then "<unk>" and, except at
/// the level of characters, "<eos>".
class Vocabulary {
 public:
  /// Counts the tokens of `text` and keeps the most frequent ones: at most `max_words` with the last two, 0: all.
  Vocabulary(const std::string& path, std::string_view text, Level level, index_t max_words);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  const std::vector<std::string>& words() const { return m_words; }

  /// Appends the numbers of the tokens of `text` to `out`; those without a number become "<unk>".
  void encode(const std::string& path, std::string_view text, std::vector<std::int32_t>& out) const;

 private:
  Level m_level;
  std::vector<std::string> m_words;
  std::unordered_map<std::string_view, std::int32_t> m_number;  ///< views into m_words
};

}  // namespace gradcomp::data
