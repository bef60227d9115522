// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014, section 3.2), with the threshold 0 of its section 3.3.
//
// Per column: lower = mean of all a < t, upper = mean of all a >= t; an element decodes to the level that its bit
// names. These are the best two levels for this cut, so the residuals of a column add up to zero, and
// ||a - C(a)||^2 = ||a||^2 - n0 lower^2 - n1 upper^2, where n0 and n1 are the numbers of elements in the two classes.
// threshold=zero: t = 0, a contraction at least as strong as with one common magnitude. threshold=mean: t = the
// column's mean, for columns whose elements have one sign or a large mean:
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
#include <algorithm>
#include <utility>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/compressors/detail/levels/one_bit_levels.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
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

/// Sends the elements that are sent exactly, and notes whether all of them are finite.
void send_raw(const Exec& exec, const Source& source, const OneBitState& state, float* values) {
  const auto raw = state.raw;
  const Mark mark = state.mark();
  kernels::for_warps(
      "gradcomp::compressors::one_bit_send_raw", exec, static_cast<index_t>(raw.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        float* const target = values + here.at;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        kernels::accumulate_rows(warp, source, here.first, here.count, bad, [&](int l, float a, int row) {
          const index_t e = index_t{kernels::warp_lanes} * row + l;
          if (e < here.count) target[e] = a;
        });
        kernels::note_bad(warp, bad, mark);
        warp.sync();
        kernels::send_rows(warp, source, here.first, here.count, [](int, float a, int) { return a; });
      });
}

/// out += weight * values if the payload is admitted; values that are not finite are broken.
void add_raw(const Exec& exec, const OneBitState& state, const float* values, float weight, const Admission& admission,
             bool first, const Span<float>& out) {
  const auto raw = state.raw;
  kernels::for_warps(
      "gradcomp::compressors::one_bit_add_raw", exec, static_cast<index_t>(raw.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        float* const target = out.data() + here.first;
        if (!kernels::may_add(warp, admission, first && p == 0, target, here.count)) return;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        const float* const in = values + here.at;
        kernels::add_values(
            warp, admission, target, here.count, [&](index_t e) { return in[e]; },
            [&](int l, float x) {
              bad[l] += Source::is_finite(x) ? 0 : 1;
              return weight * x;
            });
        kernels::note_broken(warp, bad, admission.faults);
      });
}

class OneBit final : public DenseBytes {
 public:
  OneBit(Info info, const ParameterValues& options)
      : DenseBytes(std::move(info), options), m_about_mean(options.text("threshold") == "mean") {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 0;
    for (const auto& s : layout.segments) {
      bytes += is_raw(s) ? 4 * s.count : s.rows() * (4 * kernels::sign_words(s.columns()) + 8);
    }
    return bytes;
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<OneBitState>(layout, payload_capacity(layout), m_about_mean);
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const Source& source = step.source;
    auto& own = state.as<OneBitState>();
    auto* const levels = reinterpret_cast<float*>(sections);
    float* const values = levels + 2 * own.columns.columns();
    send_raw(exec, source, own, values);
    own.columns.encode(exec, source, own.mark(), levels, reinterpret_cast<std::uint32_t*>(values + own.raw_count));
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    const auto& own = state.as<OneBitState>();
    const auto* const levels = reinterpret_cast<const float*>(sections.at);
    const float* const values = levels + 2 * own.columns.columns();
    const auto* const words = reinterpret_cast<const std::uint32_t*>(values + own.raw_count);
    const bool columns = own.columns.pieces().count() > 0;  // their kernel is the last, and tells of a flag
    add_raw(exec, own, values, sections.weight, sections.admission, !columns, out);
    kernels::add_signs(exec, own.columns.pieces(), words, own.columns.levels(levels), sections.weight,
                       sections.admission, columns, out);
  }

 private:
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
  info.compress = {1, 0, 1};  // columns of more than 4096 elements: 5, and 6 with threshold=mean
  return make_entry<OneBit>(info);
}

}  // namespace gradcomp::compressors
