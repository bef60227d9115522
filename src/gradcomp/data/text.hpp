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

/// The allowed specs, as an error message lists them.
extern const char* const text_specs;

/// Whether `spec` is one of a text: what stands before its first colon is.
bool names_text(const std::string& spec);

/// Opens what `spec` names:
///   ptb:DIR        Penn Treebank as Mikolov et al. (2010) split it: ptb.train.txt, ptb.valid.txt and ptb.test.txt in
///   DIR wikitext:DIR   WikiText-2 or -103 (Merity et al. 2017): wiki.train.tokens, wiki.valid.tokens, wiki.test.tokens
///   in DIR text:FILE      any UTF-8 text; its end is the test text, what stands before it the validation text kjv:FILE
///   what `tools/datasets kjv` writes: the same with a vocabulary of 2000 hmm            the generator, with the dials
///   of hmm.hpp
/// each with options, ":key=value": vocabulary=N (all but hmm); level=word|char, case=lower|keep, test=SHARE (text,
/// kjv; the validation text has the same share). Throws Error (one line: what, where, what is allowed).
TextData open_text(const std::string& spec);

}  // namespace gradcomp::data
