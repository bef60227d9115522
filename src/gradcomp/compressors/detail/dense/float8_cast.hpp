#pragma once
// fp8_e4m3 and fp8_e5m2: one byte per element and one power of two per segment.
//
// Per segment: scale = the largest power of two <= largest / max|a|, at most 2^127 (1 if all elements are zero), so
// that scaling is exact; code = a scale rounded to the format, decoded = value of the code / scale. Values below the
// smallest subnormal, 2^-18 (E4M3) or 2^-32 (E5M2) of the largest element, round to zero and stay in the memory. A code
// that would decode to a value beyond the largest float is lowered until the value is finite.
// Sections: f32 scales, one per segment; one byte per element.
#include <memory>
#include <utility>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/quantise/float8.hpp"
#include "gradcomp/kernels/random/uniform_rows.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::compressors {

struct Float8State final : DenseState {
  Float8State(const Layout& bucket, index_t payload_bytes)
      : DenseState(bucket, payload_bytes), tiles(bucket), first(tiles, kernels::Statistics::largest) {
    std::vector<Place> list;
    for (const auto& segment : bucket.segments) list.push_back({segment.id, segment.offset});
    place = upload("gradcomp::compressors::float8::place", list);
  }
  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + static_cast<index_t>(payload.size() + place.size() * sizeof(Place));
  }

  /// Determines where a segment's random numbers start.
  struct Place {
    index_t id, offset;
  };
  kernels::Tiles tiles;
  kernels::FirstPass first;
  Vector<Place> place;
};

/// The largest power of two <= most / amax, at most 2^127, as a normal float; 1 if amax is 0. `most` is normal.
KOKKOS_INLINE_FUNCTION float float8_scale(float most, float amax) {
  if (amax == 0) return 1;
  const std::uint64_t bits = Kokkos::bit_cast<std::uint64_t>(static_cast<double>(most) / static_cast<double>(amax));
  const auto exponent = static_cast<std::int32_t>(bits >> 52) - 1023;  // a normal double, and positive
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>((exponent < 127 ? exponent : 127) + 127) << 23);
}

/// True for the scales that float8_scale() can return.
KOKKOS_FORCEINLINE_FUNCTION bool is_float8_scale(float scale) {
  const std::uint32_t bits = Kokkos::bit_cast<std::uint32_t>(scale);
  return (bits & 0x807fffffu) == 0 && bits != 0 && Source::is_finite(scale);
}

/// Computes scales[s] from the first pass, and notes whether all elements were finite.
template <class Format>
static void write_float8_scales(const Exec& exec, const Float8State& state, float* scales) {
  const auto moments = state.first.on_device();
  const Mark mark = state.mark();
  Kokkos::parallel_for(
      "gradcomp::compressors::float8_scales", IndexRange(exec, 0, state.tiles.segments()),
      KOKKOS_LAMBDA(const index_t s) {
        scales[s] = float8_scale(Format::decode(Format::max_code), Kokkos::bit_cast<float>(moments(s).max_bits));
        if (moments(s).non_finite > 0) mark.set();
      });
}

template <class Format>
static void encode_float8(const Exec& exec, const Source& source, const Float8State& state, const Context& context,
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
        std::uint32_t most = Format::max_code;
        while (!Source::is_finite(Format::decode(most) * inverse)) --most;
        for (index_t at = 0; at < here.count; at += kernels::uniform_elements) {
          const index_t i = here.first + at;
          kernels::Lanes<float> u[kernels::uniform_rows];
          if (stochastic) kernels::draw_uniform(warp, key, i - segment.offset, u);
          const index_t left = here.count - at;
          const index_t size = left < kernels::uniform_elements ? left : kernels::uniform_elements;
          kernels::Lanes<std::uint8_t> code[kernels::uniform_rows];
          kernels::send_group<kernels::uniform_rows>(warp, source, i, size, [&](int l, float a, int row) {
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

/// DenseBytes::decode().
template <class Format>
static void decode_float8(const Exec& exec, const Float8State& state, const Sections& sections,
                          const Span<float>& out) {
  const float weight = sections.weight;
  const Admission admission = sections.admission;
  const auto tile = state.tiles.tile;
  const auto* const scales = reinterpret_cast<const float*>(sections.at);
  const auto* const codes = reinterpret_cast<const std::uint8_t*>(sections.at + 4 * state.tiles.segments());
  kernels::for_warps(
      "gradcomp::compressors::decode_float8", exec, state.tiles.count(),
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const kernels::Tile here = tile(t);
        float* const target = out.data() + here.first;
        if (!kernels::may_add(warp, admission, t == 0, target, here.count)) return;
        const float scale = scales[here.segment];
        const bool good = is_float8_scale(scale);
        const float inverse = good ? 1 / scale : 0.0f;
        kernels::Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = good ? 0 : 1; });
        const std::uint8_t* const code = codes + here.first;
        kernels::add_values(
            warp, admission, target, here.count, [&](index_t e) { return code[e]; },
            [&](int l, std::uint8_t c) {
              const float value = Format::decode(c) * inverse;
              wrong[l] += Source::is_finite(value) ? 0 : 1;
              return weight * value;
            });
        kernels::note_broken(warp, wrong, admission.faults);
      });
}

template <class Format>
class Float8Cast final : public DenseBytes {
 public:
  Float8Cast(Info info, const ParameterValues& options) : DenseBytes(declared(std::move(info), options), options) {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    return layout.count() + 4 * static_cast<index_t>(layout.segments.size());
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<Float8State>(layout, payload_capacity(layout));
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    auto& own = state.as<Float8State>();
    own.first.launch(exec, own.tiles, step.source);
    write_float8_scales<Format>(exec, own, reinterpret_cast<float*>(sections));
    encode_float8<Format>(exec, step.source, own, step.context, info().property == Info::Property::unbiased, sections);
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    decode_float8<Format>(exec, state.as<Float8State>(), sections, out);
  }
  void resize_plans(const Exec& exec, DenseState& state, index_t count) const override {
    state.as<Float8State>().tiles.resize(exec, count);
  }

 private:
  static Info declared(Info info, const ParameterValues& options) {
    if (options.text("rounding") == "stochastic") info.property = Info::Property::unbiased;
    return info;
  }
};

/// info() of both formats, except for name and summary.
inline Info float8_info(const std::string& name, const std::string& summary) {
  Info info;
  info.name = name;
  info.summary = summary;
  info.paper = "Micikevicius et al., FP8 formats for deep learning, 2022 (arXiv 2209.05433)";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  info.can_resize = true;
  info.feedback = "residual";
  info.granularity = "tensor";
  info.parameters = {
      Parameter::choice("rounding", "nearest", {"nearest", "stochastic"},
                        "nearest: ties to even; stochastic: unbiased up to 2^-24 of the distance between codes")};
  info.bytes_formula = "sum over tensors of n + 4";
  info.compress = {1, 0, 2};
  return info;
}

}  // namespace gradcomp::compressors
