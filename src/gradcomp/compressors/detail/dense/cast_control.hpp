#pragma once
// The 16-bit dense controls (fp16, bf16): one summable round of n 16-bit values, summed by an allreduce.
#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/cast_rows.hpp"
#include "gradcomp/kernels/quantise/stochastic_casts.hpp"
#include "gradcomp/kernels/random/uniform_rows.hpp"

namespace gradcomp::compressors {

/// The sent values, which become their sum: n 16-bit words. Nothing persists between steps.
struct CastState final : State {
  explicit CastState(const Layout& bucket)
      : State(bucket), sent("gradcomp::compressors::cast::sent", static_cast<std::size_t>(bucket.count())) {}
  index_t scratch_bytes() const override { return 2 * layout.count(); }

  Vector<std::uint16_t> sent;
};

/// The share that a rank sends of a: divide(a), limited to [-limit, limit].
template <class Divide>
KOKKOS_FORCEINLINE_FUNCTION float bounded_share(const Divide& divide, float a, float limit) {
  const float share = divide(a);
  return share > limit ? limit : share < -limit ? -limit : share;
}

/// sent[i] = a[i] / ranks in Format, limited to [-limit, limit]; the memory of the source keeps what the cast lost. If
/// a gradient element is not finite, NaN is sent, so that every rank finds it in the sum. divide(a) returns a / ranks
/// on the device.
template <class Format, class Divide>
static void cast_shares(const Exec& exec, const Source& source, float ranks, const Divide& divide,
                        const Vector<std::uint16_t>& sent) {
  // The sum of W values, each at most round_down(largest / W), is at most `largest`: finite gradients never give an
  // infinite mean.
  const float limit = kernels::round_down<Format>(Format::largest / ranks);
  const index_t n = source.count;
  kernels::for_warps(
      "gradcomp::compressors::cast_shares", exec, (n + kernels::tile_size - 1) / kernels::tile_size,
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const index_t end = (t + 1) * kernels::tile_size < n ? (t + 1) * kernels::tile_size : n;
        kernels::Lanes<std::int32_t> bad;  // not read: the codes tell it
        warp.each([&](int l) { bad[l] = 0; });
        index_t i = t * kernels::tile_size;
        for (; !kernels::lanes_are_threads && source.kind == Source::Kind::none && i + kernels::warp_lanes <= end;
             i += kernels::warp_lanes) {  // with a host's instructions
          const float* const g = source.gradient + i;
          kernels::prefetch_rows<1>(g);
          kernels::prefetch_rows<1>(&sent(i));
          kernels::Lanes<float> share;
          warp.each([&](int l) {
            const float x = g[l], own = bounded_share(divide, x, limit);
            share[l] = Source::is_finite(x) ? own : kernels::quiet_nan();
          });
          kernels::encode_row<Format>(warp, share, &sent(i));
        }
        constexpr int rows = kernels::lanes_are_threads ? kernels::group_rows : 1;
        for (; i < end; i += rows * kernels::warp_lanes) {
          const index_t size = end - i < rows * kernels::warp_lanes ? end - i : rows * kernels::warp_lanes;
          kernels::Lanes<std::uint16_t> codes[rows];
          kernels::touch_rows<rows>(warp, source, i, size, bad, [&](int l, float a, bool good, int row) {
            const std::uint16_t code = Format::encode_finite(bounded_share(divide, a, limit));
            codes[row][l] = good ? code : Format::nan;
            return good ? ranks * Format::decode(code) : 0.0f;
          });
          kernels::store_rows(warp, &sent(i), size, codes);
        }
      });
}

struct DivideBy {
  float ranks;
  KOKKOS_FORCEINLINE_FUNCTION float operator()(float a) const { return a / ranks; }
};
/// Gives the same bits as DivideBy if `ranks` is a power of two, and is several times as fast.
struct MultiplyBy {
  float inverse;
  KOKKOS_FORCEINLINE_FUNCTION float operator()(float a) const { return a * inverse; }
};

template <class Format>
void cast_gradient(const Exec& exec, const Source& source, int ranks, const Vector<std::uint16_t>& sent) {
  const auto count = static_cast<float>(ranks);
  if (std::has_single_bit(static_cast<unsigned>(ranks))) {
    cast_shares<Format>(exec, source, count, MultiplyBy{1 / count}, sent);
  } else {
    cast_shares<Format>(exec, source, count, DivideBy{count}, sent);
  }
}

/// cast_gradient() with stochastic rounding.
template <class Format>
static void dither_gradient(const Exec& exec, const Source& source, const Array4& key, float ranks,
                            const Vector<std::uint16_t>& sent) {
  const float limit = kernels::round_down<Format>(Format::largest / ranks);
  const index_t n = source.count;
  kernels::for_warps(
      "gradcomp::compressors::dither_gradient", exec, (n + kernels::uniform_elements - 1) / kernels::uniform_elements,
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        kernels::Lanes<std::int32_t> bad;  // not read: the codes tell it
        kernels::Lanes<float> u[kernels::uniform_rows];
        warp.each([&](int l) { bad[l] = 0; });
        kernels::draw_uniform(warp, key, t * kernels::uniform_elements, u);
        const index_t i = t * kernels::uniform_elements;
        const index_t size = n - i < kernels::uniform_elements ? n - i : kernels::uniform_elements;
        kernels::Lanes<std::uint16_t> codes[kernels::uniform_rows];
        kernels::touch_rows<kernels::uniform_rows>(warp, source, i, size, bad, [&](int l, float a, bool good, int row) {
          const float share = a / ranks;
          const float bounded = share > limit ? limit : share < -limit ? -limit : share;
          const std::uint16_t code = kernels::encode_stochastic(Format{}, bounded, u[row][l]);
          codes[row][l] = good ? code : Format::nan;
          return good ? ranks * Format::decode(code) : 0.0f;
        });
        kernels::store_rows(warp, &sent(i), size, codes);
      });
}

/// out = sum, converted to float. Elements that are not finite are counted as diverged.
template <class Format>
static void widen_sum(const Exec& exec, const Vector<std::uint16_t>& sum, const FaultCounts& faults,
                      const Span<float>& out) {
  const auto n = static_cast<index_t>(sum.size());
  kernels::for_warps(
      "gradcomp::compressors::widen_sum", exec, (n + kernels::tile_size - 1) / kernels::tile_size,
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const index_t end = (t + 1) * kernels::tile_size < n ? (t + 1) * kernels::tile_size : n;
        kernels::Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = 0; });
        const std::uint16_t* const in = sum.data();
        float* const target = out.data();
        index_t i = t * kernels::tile_size;
        for (; !kernels::lanes_are_threads && i + kernels::warp_lanes <= end; i += kernels::warp_lanes) {
          kernels::Lanes<float> value;
          kernels::prefetch_rows<1>(target + i);
          kernels::decode_row<Format>(warp, in + i, value);
          warp.each([&](int l) {
            target[i + l] = value[l];
            wrong[l] += Source::is_finite(value[l]) ? 0 : 1;
          });
        }
        kernels::each_element(
            warp, end - i, [&](index_t e) { return in[i + e]; },
            [&](int l, index_t e, std::uint16_t code) {
              const float value = Format::decode(code);
              target[i + e] = value;
              wrong[l] += Source::is_finite(value) ? 0 : 1;
            });
        kernels::note_diverged(warp, wrong, faults);
      });
}

template <class Format>
class CastControl final : public Compressor {
 public:
  CastControl(Info info, ParameterValues options)
      : Compressor(std::move(info), std::move(options)),
        m_stochastic(this->options().text("rounding") == "stochastic") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<CastState>(layout); }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 2 * layout.count(); }

  Message produce(const Exec& exec, int, const Step& step, State& state) const override {
    const auto& own = state.as<CastState>();
    const Context& context = step.context;
    if (m_stochastic) {
      const index_t id = own.layout.segments.empty() ? 0 : own.layout.segments[0].id;
      const Array4 key = stream_key(context.seed, id, context.step, static_cast<std::uint32_t>(context.rank));
      dither_gradient<Format>(exec, step.source, key, static_cast<float>(context.ranks), own.sent);
    } else {
      cast_gradient<Format>(exec, step.source, context.ranks, own.sent);
    }
    Message message;
    message.dtype = Format::dtype;
    message.count = step.source.count;
    message.data = message.result = own.sent.data();
    return message;
  }

  void finish(const Exec& exec, const Step& step, State& state) const override {
    widen_sum<Format>(exec, state.as<CastState>().sent, step.faults, step.mean);
  }

 private:
  bool m_stochastic;
};

/// The option of both formats. The sum over ranks is always rounded to nearest.
inline Parameter rounding_parameter() {
  return Parameter::choice("rounding", "nearest", {"nearest", "stochastic"},
                           "rounding of the values that a rank sends; nearest: ties to even; stochastic: unbiased");
}

}  // namespace gradcomp::compressors
