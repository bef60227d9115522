#pragma once
// Checks of answers, outside of timed code. A wrong answer fails the case and the program.
#include <vector>

#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::bench {

/// The method with feedback=residual, because the residual identity shows for every method whether an answer is right.
/// A method that cannot have it is returned unchanged.
MethodSpec remembering(const MethodSpec& method);

/// The memories of a compressor itself (factors of the last step, thresholds) at one moment.
class KeptState {
 public:
  void keep(const Exec& exec, OneRank& loop);
  /// Copies the memories to another loop with the same method and layout. Throws Error if there are not as many.
  void restore(OneRank& loop) const;

 private:
  std::vector<std::vector<std::byte>> m_bytes;
};

/// Checks `timed`, whose last compress() and decompress() began with an empty memory of feedback:
///  - the decoded gradient and the residual add up to the gradient (residual identity), in `timed` itself if it has a
///    residual, otherwise in a second loop that has one;
///  - a loop without a residual decoded the same bits, all finite, as a second loop that starts from the same memories
///    (with the same input and keys); `start` holds those from before the last compress().
/// That nothing at all is decoded can be right: a value may be too small for a format, and a drawn subset all zeros.
/// Throws Error that says what is wrong, and for which element.
void verify(const Exec& exec, const OneRank& timed, const MethodSpec& method, const Layout& layout,
            const Span<const float>& gradient, std::uint64_t seed, const KeptState& start);

/// Only the identity: a == decoded + memory, up to the rounding of the subtraction. Throws Error if it does not hold.
void verify_identity(const Exec& exec, const Span<const float>& gradient, const Span<const float>& decoded,
                     const Span<const float>& memory);

}  // namespace gradcomp::bench
