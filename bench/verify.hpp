#pragma once
// Answers are checked outside the timed region; a wrong one fails the case and the program.
#include "loop.hpp"

namespace gradcomp::bench {

/// Checks `timed`, whose last compress() and decompress() began from an empty memory:
///  - what was decoded and what stayed behind add up to the gradient (residual identity), on `timed` itself where it
///  has
///    a memory, otherwise on a second loop with one;
///  - a loop without memory and state decoded the same bits as that second loop (same input, same keys);
///  - something was decoded at all, and all of it is finite.
/// Throws Error that says which element is wrong.
void verify(const Exec& exec, const Loop& timed, const MethodSpec& method, const Layout& layout,
            const Span<const float>& gradient, std::uint64_t seed);

/// The identity alone: a == decoded + memory up to the rounding of the subtraction.
void verify_identity(const Exec& exec, const Span<const float>& gradient, const Span<const float>& decoded,
                     const Span<const float>& memory);

}  // namespace gradcomp::bench
