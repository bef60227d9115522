#pragma once
// Reads texts from files.
#include "gradcomp/data/spec.hpp"
#include "gradcomp/data/text.hpp"

namespace gradcomp::data {

/// Reads the files `train`, `valid` and `test` in the folder spec.path. Spaces separate their tokens. Takes the option
/// vocabulary=N. Throws Error (one line: what, where, what is allowed).
TextData read_published(const Spec& spec, const char* train, const char* valid, const char* test);

/// Reads the file spec.path and cuts it into the training, validation and test text. Takes the options level=word|char,
/// case=lower|keep, test=SHARE (the validation text has the same share) and vocabulary=N, whose default is
/// `vocabulary`. Throws Error (one line: what, where, what is allowed).
TextData read_text_file(const Spec& spec, const char* vocabulary);

}  // namespace gradcomp::data
