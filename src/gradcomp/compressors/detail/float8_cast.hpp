#pragma once
// fp8_e4m3 and fp8_e5m2: one byte per element and one power of two per segment.
//
// Per segment: scale = the largest power of two <= largest / max|a|, 2^127 at most (1 where all are zero), so that
// scaling is exact; code = a scale rounded to the format, decoded = value of the code / scale. Below the smallest
// subnormal, 2^-18 (E4M3) or 2^-32 (E5M2) of the largest element, values round to zero and stay in the memory.
// A code that would decode to infinity, beyond the largest float, is lowered until it does not.
// Sections: f32 scales, one per segment; one byte per element.
#include <cmath>
#include <memory>
#include <utility>

#include "gradcomp/compressors/detail/dense_bytes.hpp"
#include "gradcomp/kernels/add_count.hpp"
#include "gradcomp/kernels/arrays.hpp"
#include "gradcomp/kernels/float8.hpp"
#include "gradcomp/kernels/moments.hpp"
#include "gradcomp/kernels/source_rows.hpp"
#include "gradcomp/kernels/uniform_rows.hpp"

namespace gradcomp::compressors {

struct Float8State final : DenseState {
  Float8State(const Layout& bucket, index_t payload_bytes)
      : DenseState(bucket, payload_bytes),
        tiles(bucket),
        first(tiles),
        host_scales(bucket.segments.size()),
        place("gradcomp::compressors::float8::place", bucket.segments.size()),
        bad("gradcomp::compressors::float8::bad", 1) {
    std::vector<Place> list;
    for (const auto& segment : bucket.segments) list.push_back({segment.id, segment.offset});
    Kokkos::deep_copy(place, HostSpan<const Place>(list.data(), list.size()));
  }
  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + static_cast<index_t>(payload.size() + place.size() * sizeof(Place));
  }

  /// Where a segment's random numbers start.
  struct Place {
    index_t id, offset;
  };
  kernels::Tiles tiles;
  kernels::FirstPass first;
  std::vector<float> host_scales;
  Vector<Place> place;
  Vector<index_t> bad;
};

/// The largest power of two <= most / amax, as a normal float whose inverse is finite.
inline float float8_scale(float most, float amax) {
  if (amax == 0) return 1;
  int exponent = 0;
  std::frexp(static_cast<double>(most) / static_cast<double>(amax), &exponent);
  return std::ldexp(1.0f, exponent - 1 < 127 ? exponent - 1 : 127);
}

/// True for the scales that float8_scale() can return.
KOKKOS_FORCEINLINE_FUNCTION bool is_float8_scale(float scale) {
  const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(scale);
  return (bits & 0x807fffffu) == 0 && bits != 0 && Source::is_finite(scale);
}

template <class Format>
void encode_float8(const Exec& exec, const Source& source, const Float8State& state, const Context& context,
                   bool stochastic, std::byte* sections) {
  const auto tile = state.tiles.tile;
  const auto place = state.place;
  const auto* const scales = reinterpret_cast<const float*>(sections);
  auto* const codes = reinterpret_cast<std::uint8_t*>(sections + 4 * state.tiles.segments());
  kernels::for_warps(
      "gradcomp::compressors::encode_float8", exec, state.tiles.count(),
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const kernels::Tile here = tile(t);
        const Float8State::Place segment = place(here.segment);
        const float scale = scales[here.segment], inverse = 1 / scale;
        const Array4 key = stream_key(context.seed, segment.id, context.step, static_cast<std::uint32_t>(context.rank));
        std::uint32_t most = Format::most_code;
        while (!Source::is_finite(Format::decode(most) * inverse)) --most;
        for (index_t at = 0; at < here.count; at += kernels::uniform_elements) {
          const index_t i = here.first + at;
          kernels::Lanes<float> u[kernels::uniform_rows];
          if (stochastic) kernels::draw_uniform(warp, key, i - segment.offset, u);
          const index_t left = here.count - at;
          const index_t size = left < kernels::uniform_elements ? left : kernels::uniform_elements;
          kernels::Lanes<std::uint8_t> code[kernels::uniform_rows];
          kernels::send_rows<kernels::uniform_rows>(warp, source, i, size, [&](int l, float a, int row) {
            const float x = a * scale;
            const std::uint32_t rounded = stochastic ? Format::stochastic(x, u[row][l]) : Format::nearest(x);
            const std::uint32_t magnitude = rounded & 0x7fu;
            const std::uint32_t bounded = (magnitude < most ? magnitude : most) | (rounded & 0x80u);
            code[row][l] = static_cast<std::uint8_t>(bounded);
            return Format::decode(bounded) * inverse;
          });
          kernels::store_rows(warp, codes + i, size, code);
        }
      });
}

/// out += weight * decoded. False when a scale or a code is none. Waits for exec.
template <class Format>
bool decode_float8(const Exec& exec, const Float8State& state, const std::byte* sections, float weight,
                   const Span<float>& out) {
  const auto tile = state.tiles.tile;
  const auto* const scales = reinterpret_cast<const float*>(sections);
  const auto* const codes = reinterpret_cast<const std::uint8_t*>(sections + 4 * state.tiles.segments());
  const auto bad = state.bad;
  Kokkos::deep_copy(exec, bad, index_t{0});
  kernels::for_warps(
      "gradcomp::compressors::decode_float8", exec, state.tiles.count(),
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const kernels::Tile here = tile(t);
        const float scale = scales[here.segment];
        const bool good = is_float8_scale(scale);
        const float inverse = good ? 1 / scale : 0.0f;
        kernels::Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = good ? 0 : 1; });
        const std::uint8_t* const code = codes + here.first;
        float* const target = out.data() + here.first;
        kernels::each_element(warp, here.count, [&](int l, index_t e) {
          const float value = Format::decode(code[e]) * inverse;
          wrong[l] += Source::is_finite(value) ? 0 : 1;
          target[e] += weight * value;
        });
        kernels::add_count(warp, wrong, bad);
      });
  return kernels::read_count(exec, bad) == 0;
}

template <class Format>
class Float8Cast final : public DenseBytes {
 public:
  Float8Cast(Info info, const Options& options) : DenseBytes(declared(std::move(info), options), options) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<Float8State>(layout, payload_capacity(layout));
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    return layout.count() + 4 * static_cast<index_t>(layout.segments.size());
  }
  bool can_fit() const override { return true; }
  void fit(const Exec& exec, State& state, index_t count) const override {
    state.fit(count);
    static_cast<Float8State&>(state).tiles.fit(exec, count);
  }

 protected:
  bool encode(const Exec& exec, const Source& source, State& state, const Context& context,
              std::byte* sections) const override {
    auto& own = static_cast<Float8State&>(state);
    own.first.run(exec, own.tiles, source);
    if (own.first.non_finite() > 0) return false;  // what first() put into the memory is a itself
    const float most = Format::decode(Format::most_code);
    for (std::size_t s = 0; s < own.host_scales.size(); ++s) {
      own.host_scales[s] = float8_scale(most, Kokkos::bit_cast<float>(own.first.moments()[s].max_bits));
    }
    Kokkos::deep_copy(exec, Span<float>(reinterpret_cast<float*>(sections), own.host_scales.size()),
                      HostSpan<const float>(own.host_scales.data(), own.host_scales.size()));
    encode_float8<Format>(exec, source, own, context, info().property == Info::Property::unbiased, sections);
    return true;
  }
  bool decode(const Exec& exec, const std::byte* sections, float weight, State& state,
              const Span<float>& out) const override {
    return decode_float8<Format>(exec, static_cast<Float8State&>(state), sections, weight, out);
  }

 private:
  static Info declared(Info info, const Options& options) {
    if (options.text("rounding") == "stochastic") info.property = Info::Property::unbiased;
    return info;
  }
};

/// info() of both formats, but for name and summary.
inline Info float8_info(const std::string& name, const std::string& summary) {
  Info info;
  info.name = name;
  info.summary = summary;
  info.paper = "Micikevicius et al., FP8 formats for deep learning, 2022 (arXiv 2209.05433)";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather", "two_phase"};
  info.feedback = "residual";
  info.granularity = "tensor";
  info.parameters = {Parameter::choice("rounding", "nearest", {"nearest", "stochastic"},
                                       "nearest: ties to even; stochastic: unbiased")};
  info.bytes_formula = "sum over tensors of n + 4";
  info.passes = 5.25;
  return info;
}

}  // namespace gradcomp::compressors
