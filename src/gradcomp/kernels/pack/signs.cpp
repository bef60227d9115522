#include "gradcomp/kernels/pack/signs.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/tile_groups.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

SignPieces::SignPieces(const std::vector<SignRun>& runs) {
  std::vector<SignPiece> pieces;
  std::vector<index_t> begins{0};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (index_t e = 0; e < runs[r].count; e += tile_size) {
      pieces.push_back({runs[r].first + e, m_words + e / 32,
                        static_cast<std::int32_t>(std::min<index_t>(tile_size, runs[r].count - e)),
                        static_cast<std::int32_t>(r)});
    }
    m_words += sign_words(runs[r].count);
    begins.push_back(static_cast<index_t>(pieces.size()));
  }
  piece = room = upload("gradcomp::kernels::sign_pieces", pieces);
  begin = upload("gradcomp::kernels::sign_begin", begins);
}

void SignPieces::resize(const Exec& exec, index_t elements) {
  m_words = sign_words(elements);
  piece = shortened("gradcomp::kernels::fit_signs", exec, room, begin, tile_size, elements);
}

index_t SignPieces::bytes() const {
  return static_cast<index_t>(room.size() * sizeof(SignPiece) + begin.size() * sizeof(index_t));
}

void add_signs(const Exec& exec, const SignPieces& pieces, const std::uint32_t* words, const SignLevels& levels,
               float weight, const Admission& admission, bool first, const Span<float>& out) {
  const auto piece = pieces.piece;
  for_warps(
      "gradcomp::kernels::add_signs", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        float* const target = out.data() + here.first;
        if (!may_add(warp, admission, first && p == 0, target, here.count)) return;
        const float lower = levels.lower(here.run), upper = levels.upper(here.run);
        const bool fits = levels.one_sided ? lower <= upper : lower <= 0 && upper >= 0;
        std::int32_t wrong = Source::is_finite(lower) && Source::is_finite(upper) && fits ? 0 : 1;
        const float below = weight * lower, above = weight * upper;
        const std::uint32_t* const in = words + here.word;
        index_t at = 0;
        for (; at + sign_block <= here.count; at += sign_block) {
          Lanes<std::uint32_t> word;
          warp.each([&](int l) { word[l] = in[at / 32 + l]; });
          for (std::uint32_t bit = 0; bit < 32; ++bit) {
            float* const row = target + at + index_t{warp_lanes} * bit;
            prefetch_rows<1>(row);
            warp.each(
                [&](int l) { row[l] = admission.before(row[l]) + (((word[l] >> bit) & 1u) != 0 ? below : above); });
          }
        }
        for (; at + warp_lanes <= here.count; at += warp_lanes) {
          float* const row = target + at;
          const std::uint32_t mask = in[at / 32];
          warp.each([&](int l) { row[l] = admission.before(row[l]) + (((mask >> l) & 1u) != 0 ? below : above); });
        }
        if (at < here.count) {
          const index_t active = here.count - at;
          const std::uint32_t mask = in[at / 32];
          wrong += (mask >> active) != 0 ? 1 : 0;
          warp.each([&](int l) {
            if (l < active)
              target[at + l] = admission.before(target[at + l]) + (((mask >> l) & 1u) != 0 ? below : above);
          });
        }
        warp.once([&] {
          if (wrong > 0) admission.faults.broken();
        });
      });
}

void first_signs(const Exec& exec, const SignPieces& pieces, const Source& source, const Mark& mark,
                 std::uint32_t* words, const Vector<float>& parts, const Vector<double>& sums) {
  const auto piece = pieces.piece;
  const auto begin = pieces.begin;
  for_warps(
      "gradcomp::kernels::first_signs", exec, pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const SignPiece here = piece(p);
        Lanes<float> sum;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) {
          sum[l] = 0;
          bad[l] = 0;
        });
        index_t at = 0;
        for (; at + sign_block <= here.count; at += sign_block) {
          Lanes<std::uint32_t> word;
          warp.each([&](int l) { word[l] = 0; });
          accumulate_rows(warp, source, here.first + at, sign_block, bad, [&](int l, float a, int row) {
            word[l] |= (a < 0 ? 1u : 0u) << row;
            sum[l] += Kokkos::bit_cast<float>(magnitude(a));
          });
          store_row(warp, words + here.word + at / 32, warp_lanes, word);
        }
        for (; at < here.count; at += warp_lanes) {
          Lanes<float> a;
          const index_t left = here.count - at;
          accumulate_row(warp, source, here.first + at, static_cast<int>(left < warp_lanes ? left : warp_lanes), a,
                         bad);
          warp.each([&](int l) { sum[l] += Kokkos::bit_cast<float>(magnitude(a[l])); });
          const std::uint32_t mask = warp.ballot([&](int l) { return a[l] < 0; });
          warp.once([&] { words[here.word + at / 32] = mask; });
        }
        const float part = warp.sum(sum);
        const std::int32_t total = warp.sum(bad);
        warp.once([&] {
          parts(p) = part;
          if (total > 0) mark.set();
        });
      });
  for_segments(
      "gradcomp::kernels::combine_sign_sums", exec, static_cast<index_t>(sums.size()),
      KOKKOS_LAMBDA(const Block& block, index_t r) {
        const double total =  // in the order of FirstPass, so that the bits are the same
            sum_over<double>(block, begin(r), begin(r + 1), [&](index_t p) { return static_cast<double>(parts(p)); });
        block.once([&] { sums(r) = total; });
      });
}

}  // namespace gradcomp::kernels
