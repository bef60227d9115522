// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014, section 3.2), with the threshold 0 of its section 3.3.
//
// Per column: lower = mean of the a < 0, upper = mean of the a >= 0 (0 for an empty class), decoded as what the sign
// says: the best two levels for this cut, so the residuals of a column add up to zero, and a contraction at least as
// strong as one common magnitude.
// A column holds what one input contributes to all outputs: a column of the paper's (and CNTK's) out x in matrices.
// Tensors here are {.., in, out}, last extent fastest, so that column is one contiguous row of Segment::columns()
// elements, and there are Segment::rows() of them, one per input (and place in a kernel).
// Sent as they are, exactly: tensors of one dimension, and columns of up to 3 elements, which would not get smaller.
// So granularity=bucket, which shows one vector, compresses nothing.
// Sections: f32 lower and upper of every column; f32 values sent as they are; sign words of every column
// (kernels/signs.hpp; the bit is set where a < 0).
#include "gradcomp/compressors/one_bit.hpp"

#include <algorithm>

#include "gradcomp/compressors/detail/dense_bytes.hpp"
#include "gradcomp/kernels/signs.hpp"
#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::SignPieces;
using kernels::Warp;
using kernels::warp_lanes;

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

/// Elements sent as they are: [first, first + count) of the bucket, from `at` on in their section.
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

/// Of the elements of a piece, by sign. In double: the mean of equal floats is that float, and nothing overflows.
struct SignSums {
  double below, above;
  std::int32_t negative;
};

struct OneBitState final : DenseState {
  OneBitState(const Layout& bucket, index_t payload_bytes)
      : DenseState(bucket, payload_bytes),
        pieces(columns_of(bucket)),
        columns(static_cast<index_t>(pieces.begin.size()) - 1),
        sums("gradcomp::compressors::one_bit::sums", pieces.piece.size()) {
    const auto list = raw_of(bucket);
    for (const auto& piece : list) raw_count += piece.count;
    raw = Vector<RawPiece>("gradcomp::compressors::one_bit::raw", list.size());
    Kokkos::deep_copy(raw, HostSpan<const RawPiece>(list.data(), list.size()));
  }
  index_t scratch_bytes() const override {
    return pieces.bytes() +
           static_cast<index_t>(payload.size() + sums.size() * sizeof(SignSums) + raw.size() * sizeof(RawPiece));
  }

  SignPieces pieces;
  index_t columns, raw_count = 0;
  Vector<SignSums> sums;
  Vector<RawPiece> raw;
};

/// Forms a, and its sums in every piece. Returns the number of non-finite elements. Waits for exec.
index_t first_sums(const Exec& exec, const Source& source, const OneBitState& state) {
  const auto piece = state.pieces.piece;
  const auto counter = state.pieces.counter;
  const auto sums = state.sums;
  const auto raw = state.raw;
  state.pieces.reset(exec);
  kernels::for_warps(
      "gradcomp::compressors::one_bit_sums", exec, state.pieces.count(), KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const kernels::SignPiece here = piece(p);
        Lanes<double> below, above;
        Lanes<std::int32_t> negative, bad;
        warp.each([&](int l) {
          below[l] = above[l] = 0;
          negative[l] = bad[l] = 0;
        });
        for (index_t row = 0; row < here.count; row += warp_lanes) {
          const int active = static_cast<int>(here.count - row < warp_lanes ? here.count - row : warp_lanes);
          Lanes<float> a;
          kernels::first_row(warp, source, here.first + row, active, a, bad);
          warp.each([&](int l) {
            below[l] += static_cast<double>(a[l] < 0 ? a[l] : 0.0f);
            above[l] += static_cast<double>(a[l] < 0 ? 0.0f : a[l]);
            negative[l] += a[l] < 0 ? 1 : 0;
          });
        }
        const SignSums result{warp.sum(below), warp.sum(above), warp.sum(negative)};
        const std::int32_t total = warp.sum(bad);
        warp.once([&] {
          sums(p) = result;
          if (total > 0) Kokkos::atomic_add(&counter(0), static_cast<index_t>(total));
        });
      });
  kernels::for_warps(
      "gradcomp::compressors::one_bit_raw_sums", exec, static_cast<index_t>(raw.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t row = 0; row < here.count; row += warp_lanes) {
          const int active = static_cast<int>(here.count - row < warp_lanes ? here.count - row : warp_lanes);
          Lanes<float> a;
          kernels::first_row(warp, source, here.first + row, active, a, bad);
        }
        const std::int32_t total = warp.sum(bad);
        warp.once([&] {
          if (total > 0) Kokkos::atomic_add(&counter(0), static_cast<index_t>(total));
        });
      });
  return state.pieces.read(exec);
}

/// levels[2 c], levels[2 c + 1] = lower and upper of column c, from its pieces in order.
void column_levels(const Exec& exec, const OneBitState& state, float* levels) {
  const auto piece = state.pieces.piece;
  const auto begin = state.pieces.begin;
  const auto sums = state.sums;
  Kokkos::parallel_for(
      "gradcomp::compressors::column_levels",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, state.columns), KOKKOS_LAMBDA(const index_t c) {
        double below = 0, above = 0;
        index_t negative = 0, count = 0;
        for (index_t p = begin(c); p < begin(c + 1); ++p) {
          below += sums(p).below;
          above += sums(p).above;
          negative += sums(p).negative;
          count += piece(p).count;
        }
        levels[2 * c] = negative > 0 ? static_cast<float>(below / static_cast<double>(negative)) : 0.0f;
        levels[2 * c + 1] = count > negative ? static_cast<float>(above / static_cast<double>(count - negative)) : 0.0f;
      });
}

void write_raw(const Exec& exec, const Source& source, const OneBitState& state, float* values) {
  const auto raw = state.raw;
  kernels::for_warps(
      "gradcomp::compressors::one_bit_write_raw", exec, static_cast<index_t>(raw.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        for (index_t row = 0; row < here.count; row += warp_lanes) {
          const int active = static_cast<int>(here.count - row < warp_lanes ? here.count - row : warp_lanes);
          Lanes<float> a;
          kernels::load_row(warp, source.accumulated() + here.first + row, active, a);
          kernels::store_row(warp, values + here.at + row, active, a);
          kernels::sent_row(warp, source, here.first + row, active, a, a);
        }
      });
}

/// out += weight * values; returns how many are not finite. Waits for exec.
index_t add_raw(const Exec& exec, const OneBitState& state, const float* values, float weight, const Span<float>& out) {
  const auto raw = state.raw;
  const auto counter = state.pieces.counter;
  state.pieces.reset(exec);
  kernels::for_warps(
      "gradcomp::compressors::one_bit_add_raw", exec, static_cast<index_t>(raw.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const RawPiece here = raw(p);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) {
          bad[l] = 0;
          for (index_t i = l; i < here.count; i += warp_lanes) {
            const float value = values[here.at + i];
            bad[l] += Source::is_finite(value) ? 0 : 1;
            out(here.first + i) += weight * value;
          }
        });
        const std::int32_t total = warp.sum(bad);
        warp.once([&] {
          if (total > 0) Kokkos::atomic_add(&counter(0), static_cast<index_t>(total));
        });
      });
  return state.pieces.read(exec);
}

class OneBit final : public DenseBytes {
 public:
  using DenseBytes::DenseBytes;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<OneBitState>(layout, payload_capacity(layout));
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 0;
    for (const auto& s : layout.segments) {
      bytes += is_raw(s) ? 4 * s.count : s.rows() * (4 * kernels::sign_words(s.columns()) + 8);
    }
    return bytes;
  }

 protected:
  bool encode(const Exec& exec, const Source& source, State& state, const Context&,
              std::byte* sections) const override {
    const auto& own = static_cast<OneBitState&>(state);
    if (first_sums(exec, source, own) > 0) return false;  // what first() put into the memory is a itself
    auto* const levels = reinterpret_cast<float*>(sections);
    float* const values = levels + 2 * own.columns;
    column_levels(exec, own, levels);
    write_raw(exec, source, own, values);
    kernels::write_signs(exec, own.pieces, kernels::SentRows{source}, {levels, 2},
                         reinterpret_cast<std::uint32_t*>(values + own.raw_count));
    return true;
  }
  bool decode(const Exec& exec, const std::byte* sections, float weight, State& state,
              const Span<float>& out) const override {
    const auto& own = static_cast<OneBitState&>(state);
    const auto* const levels = reinterpret_cast<const float*>(sections);
    const float* const values = levels + 2 * own.columns;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(values + own.raw_count);
    return add_raw(exec, own, values, weight, out) == 0 &&
           kernels::add_signs(exec, own.pieces, words, {levels, 2}, weight, out);
  }
};

}  // namespace

Entry one_bit() {
  Info info;
  info.name = "one_bit";
  info.summary = "one bit per element and the means of both signs per column of a matrix; vectors as they are";
  info.paper =
      "Seide et al., 1-bit stochastic gradient descent and its application to data-parallel distributed "
      "training of speech DNNs, Interspeech 2014";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"two_phase", "allgather"};
  info.feedback = "residual";
  info.granularity = "tensor";
  info.bytes_formula =
      "sum over matrices {.., in, out} of (n / out) (4 ceil(out / 32) + 8); 4 n of vectors and where "
      "out <= 3";
  info.passes = 5;
  return make_entry<OneBit>(info);
}

}  // namespace gradcomp::compressors
