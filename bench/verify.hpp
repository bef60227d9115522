#pragma once
// Answers are checked outside the timed region; a wrong one fails the case and the program.
#include <vector>

#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::bench {

/// The method with error feedback from a residual, whatever its default is, because the residual identity is what tells
/// a right answer of any method; as it is where it takes none.
MethodSpec remembering(const MethodSpec& method);

/// What a method remembers of its own between steps (warm-started factors, thresholds), at one moment.
class KeptState {
 public:
  void keep(const Exec& exec, OneRank& loop);
  /// Gives it to another loop of the same method and layout.
  void restore(OneRank& loop) const;

 private:
  std::vector<std::vector<std::byte>> m_bytes;
};

/// Checks `timed`, whose last compress() and decompress() began from an empty memory:
///  - what was decoded and what stayed behind add up to the gradient (residual identity), on `timed` itself where it
///    has a memory, otherwise on a second loop with one;
///  - a loop without memory decoded the same bits as a second loop that starts from the same state (same input, same
///    keys), which `start` has of the moment before that compress();
///  - something was decoded at all, and all of it is finite.
/// Throws Error that says which element is wrong.
void verify(const Exec& exec, const OneRank& timed, const MethodSpec& method, const Layout& layout,
            const Span<const float>& gradient, std::uint64_t seed, const KeptState& start);

/// The identity alone: a == decoded + memory up to the rounding of the subtraction.
void verify_identity(const Exec& exec, const Span<const float>& gradient, const Span<const float>& decoded,
                     const Span<const float>& memory);

}  // namespace gradcomp::bench
