#include "gradcomp/kernels/pack/base3.hpp"

#include <algorithm>
#include <vector>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/quantise/codecs.hpp"

namespace gradcomp::kernels {

Base3::Base3(const Layout& layout) {
  constexpr index_t run = 5 * 1024;
  std::vector<Run> runs;
  index_t scale = 0;
  for (const auto& segment : layout.segments) {
    for (index_t e = 0; e < segment.count; e += run)
      runs.push_back({segment.offset + e, std::min(run, segment.count - e), m_bytes + e / 5, scale});
    m_bytes += (segment.count + 4) / 5;
    scale += segment.count > 0 ? 1 : 0;
  }
  m_runs = upload("gradcomp::kernels::base3_runs", runs);
}

void Base3::pack(const Exec& exec, const Span<const std::int8_t>& codes, std::uint8_t* bytes) const {
  const auto runs = m_runs;
  for_warps(
      "gradcomp::kernels::base3_pack", exec, static_cast<index_t>(runs.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t r) {
        const Run run = runs(r);
        warp.each([&](int l) {
          for (index_t j = l; 5 * j < run.count; j += warp_lanes) {
            std::uint32_t byte = 0, power = 1;
            for (index_t i = 5 * j; i < 5 * j + 5 && i < run.count; ++i, power *= 3) {
              const std::int8_t code = codes(run.first + i);
              byte += power * (code == 0 ? 0u : code < 0 ? 1u : 2u);
            }
            bytes[run.byte + j] = static_cast<std::uint8_t>(byte);
          }
        });
      });
}

void Base3::unpack_add(const Exec& exec, const std::uint8_t* bytes, const float* scales, float weight,
                       const Admission& admission, const Span<float>& out) const {
  const auto runs = m_runs;
  for_warps(
      "gradcomp::kernels::base3_unpack", exec, static_cast<index_t>(runs.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t r) {
        const Run run = runs(r);
        if (!may_add(warp, admission, r == 0, out.data() + run.first, run.count)) return;
        const float scale = scales[run.scale];
        Lanes<std::int32_t> bad;
        warp.each([&](int l) {
          bad[l] = is_norm(scale) ? 0 : 1;
          for (index_t j = l; 5 * j < run.count; j += warp_lanes) {
            std::uint32_t byte = bytes[run.byte + j];
            bad[l] += byte < 243 ? 0 : 1;
            for (index_t i = 5 * j; i < 5 * j + 5 && i < run.count; ++i, byte /= 3)
              out(run.first + i) = admission.before(out(run.first + i)) + weight * decoded_value(byte % 3, scale);
          }
        });
        note_broken(warp, bad, admission.faults);
      });
}

}  // namespace gradcomp::kernels
