#pragma once
// Texts in host memory, as sequences of tokens: the numbers of words or characters in a vocabulary.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// The training, validation and test text, and what a result record says about them.
struct TextData {
  std::vector<std::int32_t> train, validation, test;  ///< tokens, indices into `vocabulary`; at least two in each text
  std::vector<std::string> vocabulary;                ///< most frequent first, then "<unk>", then "<eos>" (tokens.hpp)
  std::string name;                                   ///< canonical spec; never a path
  std::string crc;  ///< cyclic redundancy check, CRC-32 (8 hex digits), of vocabulary, train, validation and test

  /// If the source of the text is known: the exact mean of -ln p(token t | tokens 0 .. t - 1), t >= 1, of the tokens
  /// from the beginning of `test` that are its argument. Otherwise empty.
  std::function<double(std::span<const std::int32_t>)> cross_entropy = {};
};

/// Opens the text that `spec` names (data/datasets/), and fills in crc. Throws Error (one line: what, where, what is
/// allowed).
TextData open_text(const std::string& spec);

}  // namespace gradcomp::data
