#pragma once
// The range of magnitudes in which a method treats a gradient and its multiples alike. docs/methods.md shows it, and
// tests/conformance/range_test.cpp holds it.
#include <optional>
#include <string>

#include "gradcomp/core/info.hpp"

namespace gradcomp {

/// If the largest magnitude of every tensor lies in [2^low, 2^high), a gradient that is 2^j times as large has the same
/// codes and an answer that is 2^j times as large (within 1e-5 of its largest element).
struct ScaleRange {
  int low, high;
  std::string outside;  ///< what becomes of smaller or of larger gradients, if it needs words
};

/// The range of a method with its default options. Nothing if it has a constant in the gradient's own units, or sends
/// signs alone.
std::optional<ScaleRange> scale_range(const Info& info);

/// The same as a sentence for the docs.
std::string scale_range_text(const Info& info);

}  // namespace gradcomp
