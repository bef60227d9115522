// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014, section 3.2), with the threshold 0 of its section 3.3.
//
// Per column: lower = mean of all a < t, upper = mean of all a >= t; an element decodes to the level that its bit
// names. These are the best two levels for this cut, so the residuals of a column add up to zero, and
// ||a - C(a)||^2 = ||a||^2 - n0 lower^2 - n1 upper^2, where n0 and n1 are the numbers of elements in the two classes.
// threshold=zero: t = 0, a contraction at least as strong as with one common magnitude. threshold=mean: t = the
// column's mean (one more read of a), for columns whose elements have one sign or a large mean:
// n0 (t - lower) = n1 (upper - t). Empty classes: detail/levels/one_bit_levels.hpp.
//
// A column holds the contribution of one input to all outputs: a column of the paper's (and CNTK's) out x in matrices.
// Tensors here are {.., in, out}, last extent fastest, so such a column is one contiguous row of Segment::columns()
// elements, and there are Segment::rows() of them, one per input (and place in a kernel).
//
// Tensors of one dimension, and columns of up to 3 elements, which would not get smaller, are sent exactly. So
// granularity=bucket, where the method sees one vector, compresses nothing.
// Sections: f32 lower and upper of every column; f32 values that are sent exactly; sign words of every column
// (kernels/pack/signs.hpp; the bit is set if a < t); t is not sent.
#include "gradcomp/compressors/one_bit.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/compressors/detail/levels/one_bit_levels.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/kernels/lanes/add_count.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/pack/signs.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;

bool is_raw(const Segment& segment) { return !segment.is_matrix() || segment.columns() <= 3; }

std::vector<kernels::SignRun> columns_of(const Layout& layout) {
  std::vector<kernels::SignRun> runs;
  for (const auto& segment : layout.segments) {
    if (is_raw(segment)) continue;
    for (index_t r = 0; r < segment.rows(); ++r) {
      runs.push_back({segment.offset + r * segment.columns(), segment.columns()});
    }
  }
  return runs;
}

/// Elements that are sent exactly: [first, first + count) of the bucket, from `at` on in their section.
struct RawPiece {
  index_t first, at, count;
};
std::vector<RawPiece> raw_of(const Layout& layout) {
  std::vector<RawPiece> list;
  index_t at = 0;
  for (const auto& segment : layout.segments) {
    if (!is_raw(segment)) continue;
    for (index_t e = 0; e < segment.count; e += kernels::tile_size) {
      list.push_back({segment.offset + e, at + e, std::min<index_t>(kernels::tile_size, segment.count - e)});
    }
    at += segment.count;
  }
  return list;
}

struct OneBitState final : DenseState {
  OneBitState(const Layout& bucket, index_t payload_bytes, bool about_mean)
      : DenseState(bucket, payload_bytes), columns(columns_of(bucket), about_mean) {
    const auto list = raw_of(bucket);
    for (const auto& piece : list) raw_count += piece.count;
    raw = upload("gradcomp::compressors::one_bit::raw", list);
  }
  index_t scratch_bytes() const override {
    return columns.bytes() + static_cast<index_t>(payload.size() + raw.size() * sizeof(RawPiece));
  }

  ColumnLevels columns;
  index_t raw_count = 0;
  Vector<RawPiece> raw;
};

/// Forms a, and counts its non-finite elements.
void accumulate(const Exec& exec, const Source& source, const OneBitState& state) {
  const auto raw = state.raw;
  const auto counter = state.non_finite.count();
  state.columns.accumulate(exec, source, state.non_finite);
  kernels::for_warps(
      "gradcomp::compressors::one_bit_raw_first", exec, static_cast<index_t>(raw.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        kernels::accumulate_rows(warp, source, here.first, here.count, bad, [](int, float, int) {});
        kernels::add_count(warp, bad, counter);
      });
}

void write_raw(const Exec& exec, const Source& source, const OneBitState& state, float* values) {
  const auto raw = state.raw;
  kernels::for_warps(
      "gradcomp::compressors::one_bit_write_raw", exec, static_cast<index_t>(raw.size()), state.non_finite.if_zero(),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        float* const target = values + here.at;
        kernels::send_rows(warp, source, here.first, here.count, [&](int l, float a, int row) {
          const index_t e = index_t{kernels::warp_lanes} * row + l;
          if (e < here.count) target[e] = a;
          return a;
        });
      });
}

/// out += weight * values if `gate` is open; counts values that are not finite.
void add_raw(const Exec& exec, const OneBitState& state, const float* values, float weight, const Gate& gate,
             const Span<float>& out) {
  const auto raw = state.raw;
  const auto counter = state.wrong.count();
  kernels::for_warps(
      "gradcomp::compressors::one_bit_add_raw", exec, static_cast<index_t>(raw.size()), gate,
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        const float* const in = values + here.at;
        float* const target = out.data() + here.first;
        kernels::each_element(warp, here.count, [&](int l, index_t e) {
          bad[l] += Source::is_finite(in[e]) ? 0 : 1;
          target[e] += weight * in[e];
        });
        kernels::add_count(warp, bad, counter);
      });
}

bool about_mean(const ParameterValues& options) { return options.text("threshold") == "mean"; }

class OneBit final : public DenseBytesOf<OneBitState> {
 public:
  OneBit(Info info, const ParameterValues& options)
      : DenseBytesOf(with_threshold(std::move(info), options), options), m_about_mean(about_mean(options)) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<OneBitState>(layout, payload_capacity(layout), m_about_mean);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 0;
    for (const auto& s : layout.segments) {
      bytes += is_raw(s) ? 4 * s.count : s.rows() * (4 * kernels::sign_words(s.columns()) + 8);
    }
    return bytes;
  }

 protected:
  void encode(const Exec& exec, const Source& source, OneBitState& own, const Context&,
              std::byte* sections) const override {
    accumulate(exec, source, own);  // it leaves a itself in the memory
    auto* const levels = reinterpret_cast<float*>(sections);
    float* const values = levels + 2 * own.columns.columns();
    own.columns.write(exec, source, levels);
    write_raw(exec, source, own, values);
    kernels::write_signs(exec, own.columns.pieces(), kernels::SentRows{source}, own.columns.levels(levels),
                         own.non_finite.if_zero(), own.non_finite,
                         reinterpret_cast<std::uint32_t*>(values + own.raw_count));
  }
  void decode(const Exec& exec, const std::byte* sections, float weight, OneBitState& own, const Gate& gate,
              const Span<float>& out) const override {
    const auto* const levels = reinterpret_cast<const float*>(sections);
    const float* const values = levels + 2 * own.columns.columns();
    const auto* const words = reinterpret_cast<const std::uint32_t*>(values + own.raw_count);
    add_raw(exec, own, values, weight, gate, out);
    kernels::add_signs(exec, own.columns.pieces(), words, own.columns.levels(levels), weight, gate, own.wrong, out);
  }

 private:
  static Info with_threshold(Info info, const ParameterValues& options) {
    info.passes += about_mean(options) ? 1 : 0;
    return info;
  }

  bool m_about_mean;
};

}  // namespace

Entry one_bit() {
  Info info;
  info.name = "one_bit";
  info.summary =
      "one bit per element, and the means of both signs for each column of a matrix; vectors are sent unchanged";
  info.paper =
      "Seide et al., 1-bit stochastic gradient descent and its application to data-parallel distributed "
      "training of speech DNNs, Interspeech 2014";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducer = "two_phase";
  info.stripes = true;
  info.feedback = "residual";
  info.granularity = "tensor";
  info.parameters = {Parameter::choice("threshold", "zero", {"zero", "mean"},
                                       "value that separates the two classes of a column; zero: 0; mean: the column's "
                                       "mean")};
  info.bytes_formula =
      "sum over matrices {.., in, out} of (n / out) (4 ceil(out / 32) + 8); 4 n of vectors and where "
      "out <= 3";
  info.passes = 5;
  return make_entry<OneBit>(info);
}

}  // namespace gradcomp::compressors
