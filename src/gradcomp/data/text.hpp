#pragma once
// Texts in host memory, as numbers of words or characters.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// Texts to train, to validate and to test on, and what a result record says of them.
struct TextData {
  std::vector<std::int32_t> train, validation, test;  ///< tokens, each an index into `vocabulary`; at least two of each
  std::vector<std::string> vocabulary;                ///< most frequent first, then "<unk>", then "<eos>" (tokens.hpp)
  std::string name;                                   ///< canonical spec; never a path
  std::string crc;  ///< CRC-32 (8 hex digits) of vocabulary and tokens, train, validation, test

  /// Where the source of the text is known: the exact mean of -ln p(token t | tokens 0 .. t - 1), t >= 1, of a
  /// beginning of `test`. Empty elsewhere.
  std::function<double(std::span<const std::int32_t>)> cross_entropy = {};
};

/// Opens what `spec` names, one of the texts (data/datasets/). The CRC is filled in. Throws Error (one line: what,
/// where, what is allowed).
TextData open_text(const std::string& spec);

}  // namespace gradcomp::data
