#pragma once
// Tokens of a text, and the vocabulary that numbers them.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// What a token is.
enum class Level : std::uint8_t {
  split,       ///< whatever white space separates; for published texts, which are already split into words
  words,       ///< a word: letters, digits and bytes above 127, and apostrophes between two of these; or any other
               ///< character that is not white space
  characters,  ///< every character (UTF-8 code point), also the end of a line
};

constexpr std::string_view unknown_token = "<unk>", end_token = "<eos>";

/// Changes A to Z into a to z. Other letters do not change.
void to_lower_case(std::string& text);

/// Calls `visit` with each token of a UTF-8 text in order. Except at the level of characters, every line ends in
/// "<eos>", even if it is empty.
void for_each_token(std::string_view text, Level level, const std::function<void(std::string_view token)>& visit);

/// The tokens that have a number. The most frequent ones come first, and ties are in the order of their bytes. "<unk>"
/// follows and, except at the level of characters, "<eos>".
class Vocabulary {
 public:
  /// Counts the tokens of `text` and keeps the most frequent ones. `max_words`: maximum size of the vocabulary, "<unk>"
  /// and "<eos>" included; 0: no limit.
  Vocabulary(std::string_view text, Level level, index_t max_words);
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  const std::vector<std::string>& words() const { return m_words; }

  /// Appends the numbers of the tokens of `text` to `out`. A token without a number becomes "<unk>".
  void encode(std::string_view text, std::vector<std::int32_t>& out) const;

 private:
  Level m_level;
  std::vector<std::string> m_words;
  std::unordered_map<std::string_view, std::int32_t> m_number;  ///< views into m_words
};

}  // namespace gradcomp::data
