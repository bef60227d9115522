#pragma once
// Readers of texts in files.
#include "gradcomp/data/spec.hpp"
#include "gradcomp/data/text.hpp"

namespace gradcomp::data {

/// Three texts in the folder spec.path, in which words are split by spaces. Option: vocabulary=N. Throws Error.
TextData read_published(const Spec& spec, const char* train, const char* valid, const char* test);

/// One text, cut into its parts; `vocabulary`: the default of the option. Options: level=word|char, case=lower|keep,
/// test=SHARE (the validation text has the same share), vocabulary=N. Throws Error.
TextData read_text_file(const Spec& spec, const char* vocabulary);

}  // namespace gradcomp::data
