#include "gradcomp/kernels/quantise/code_plan.hpp"

namespace gradcomp::kernels {

CodePlan::CodePlan(const Layout& layout, index_t group_length, int code_bits, int scale_words)
    : CodePieces(layout, group_length, code_bits),
      words_per_group(scale_words),
      tail_codes("gradcomp::kernels::tail_codes", static_cast<std::size_t>(tail_room)) {}

index_t CodePlan::scratch_bytes() const { return piece_bytes() + static_cast<index_t>(2 * tail_codes.size()); }

index_t coded_bytes(const Layout& layout, index_t length, int bits, int scale_words) {
  index_t bytes = 4 * scale_words * group_count(layout, length);
  for (const auto& segment : layout.segments) bytes += (segment.count * bits + 7) / 8;
  return bytes;
}

}  // namespace gradcomp::kernels
