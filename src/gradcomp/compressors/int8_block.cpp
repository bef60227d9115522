// Linear 8-bit quantisation by blocks (Dettmers, "8-bit approximations for parallelism in deep learning", ICLR 2016),
// with the maximum of every block as its scale (Dettmers et al., "8-bit optimizers via block-wise quantization", ICLR
// 2022).
//
// For each block of a tensor: s = max|a| / 127, the code q is a / s, rounded, and decoded = q s. So |a - decoded| <= s
// / 2 (nearest) or < s (stochastic), apart from the rounding of floats. Stochastic rounding compares the fraction of
// |a| / s with a random number of 24 bits. So the probability of rounding up is too large by less than 2^-24, and the
// mean of |decoded| exceeds |a| by less than 2^-24 s. A block whose s underflows to zero (max|a| < 2^-143) decodes to
// zeros. Sections: f32 s of every block; one byte q in -127..127 for every element.
#include <algorithm>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/nearest_code.hpp"
#include "gradcomp/kernels/random/uniform_rows.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;
using kernels::warp_lanes;

/// Largest s. 127 times this is just below the largest float, so that every decoded value is finite.
constexpr float largest_scale = 0x1.0204p121f;

/// Elements [first, first + count) of the bucket; `element` is the index of the first one in its segment.
struct BlockRange {
  index_t first, element, segment;
  std::int32_t count;
};

index_t block_count(const Layout& layout, index_t size) {
  index_t count = 0;
  for (const auto& segment : layout.segments) count += (segment.count + size - 1) / size;
  return count;
}

struct Int8State final : DenseState {
  Int8State(const Layout& bucket, index_t payload_bytes, index_t size) : DenseState(bucket, payload_bytes) {
    std::vector<BlockRange> list;
    for (const auto& segment : bucket.segments) {
      for (index_t e = 0; e < segment.count; e += size) {
        list.push_back(
            {segment.offset + e, e, segment.id, static_cast<std::int32_t>(std::min(size, segment.count - e))});
      }
    }
    blocks = room = upload("gradcomp::compressors::int8_block::blocks", list);
  }
  index_t scratch_bytes() const override {
    return static_cast<index_t>(payload.size() + room.size() * sizeof(BlockRange));
  }

  Vector<BlockRange> room, blocks;  ///< `blocks` is the beginning of `room`
};

/// Touches a block for the first time and returns its s.
KOKKOS_FORCEINLINE_FUNCTION float block_scale(const Warp& warp, const Source& source, const BlockRange& block,
                                              Lanes<std::int32_t>& bad) {
  Lanes<std::int32_t> most;
  warp.each([&](int l) { most[l] = 0; });
  kernels::accumulate_rows(warp, source, block.first, block.count, bad, [&](int l, float a, int) {
    const std::int32_t bits = kernels::magnitude(a);
    most[l] = bits > most[l] ? bits : most[l];
  });
  const float scale = Kokkos::bit_cast<float>(warp.max(most)) / 127.0f;
  return scale < largest_scale ? scale : +largest_scale;
}

/// The code q of x = a / s, as a float. It is limited to -127 .. 127 even if s is a denormal and was rounded coarsely.
KOKKOS_FORCEINLINE_FUNCTION float stochastic_code(float x, float u) {
  const float low = x > -127.0f ? x : -127.0f, bounded = low < 127.0f ? low : 127.0f;
  const auto whole = static_cast<float>(static_cast<std::int32_t>(bounded));
  const float rest = bounded < 0 ? whole - bounded : bounded - whole;
  return u < rest ? whole + (bounded < 0 ? -1.0f : 1.0f) : whole;
}

/// Writes scales and codes, and notes whether all elements are finite.
void encode_blocks(const Exec& exec, const Source& source, const Int8State& state, const Context& context,
                   bool stochastic, std::byte* sections) {
  const auto blocks = state.blocks;
  const Mark mark = state.mark();
  const auto count = static_cast<index_t>(blocks.size());
  auto* const scales = reinterpret_cast<float*>(sections);
  auto* const codes = reinterpret_cast<std::int8_t*>(sections + 4 * count);
  kernels::for_warps(
      "gradcomp::compressors::encode_int8_blocks", exec, count, KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const BlockRange block = blocks(b);
        const Array4 key =
            stream_key(context.seed, block.segment, context.step, static_cast<std::uint32_t>(context.rank));
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        const float scale = block_scale(warp, source, block, bad);
        const float divisor = scale > 0 ? scale : 1.0f;  // values this small divided by 1 give code 0
        warp.once([&] { scales[b] = scale; });
        for (index_t at = 0; at < block.count; at += kernels::uniform_elements) {
          Lanes<float> u[kernels::uniform_rows];
          if (stochastic) kernels::draw_uniform(warp, key, block.element + at, u);
          const index_t i = block.first + at, left = block.count - at;
          const index_t size = left < kernels::uniform_elements ? left : kernels::uniform_elements;
          Lanes<std::int8_t> code[kernels::uniform_rows];
          kernels::send_group<kernels::uniform_rows>(warp, source, i, size, [&](int l, float a, int row) {
            const float x = a / divisor;
            const float q = stochastic ? stochastic_code(x, u[row][l]) : kernels::nearest_code(x);
            const auto whole = static_cast<std::int32_t>(q);
            code[row][l] = static_cast<std::int8_t>(whole);
            return static_cast<float>(whole) * scale;
          });
          kernels::store_rows(warp, codes + i, size, code);
        }
        kernels::note_bad(warp, bad, mark);
      });
}

/// DenseBytes::decode().
void decode_blocks(const Exec& exec, const Int8State& state, const Sections& sections, const Span<float>& out) {
  const auto blocks = state.blocks;
  const float weight = sections.weight;
  const Admission admission = sections.admission;
  const auto count = static_cast<index_t>(blocks.size());
  const auto* const scales = reinterpret_cast<const float*>(sections.at);
  const auto* const codes = reinterpret_cast<const std::int8_t*>(sections.at + 4 * count);
  kernels::for_warps(
      "gradcomp::compressors::decode_int8_blocks", exec, count, KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const BlockRange block = blocks(b);
        float* const target = out.data() + block.first;
        if (!kernels::may_add(warp, admission, b == 0, target, block.count)) return;
        const float scale = scales[b];
        const bool good = scale >= 0 && scale <= largest_scale;
        Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = good ? 0 : 1; });
        const std::int8_t* const code = codes + block.first;
        kernels::add_values(
            warp, admission, target, block.count, [&](index_t e) { return code[e]; },
            [&](int l, std::int8_t c) {
              wrong[l] += c == -128 ? 1 : 0;
              return weight * (static_cast<float>(c) * scale);
            });
        kernels::note_broken(warp, wrong, admission.faults);
      });
}

class Int8Block final : public DenseBytes {
 public:
  Int8Block(Info info, const ParameterValues& options)
      : DenseBytes(declared(std::move(info), options), options), m_block(options.integer("block")) {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    return layout.count() + 4 * block_count(layout, m_block);
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<Int8State>(layout, payload_capacity(layout), m_block);
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    encode_blocks(exec, step.source, state.as<Int8State>(), step.context, info().property == Info::Property::unbiased,
                  sections);
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    decode_blocks(exec, state.as<Int8State>(), sections, out);
  }
  void resize_plans(const Exec& exec, DenseState& state, index_t count) const override {
    auto& own = state.as<Int8State>();
    own.blocks = kernels::shortened("gradcomp::compressors::fit_int8_blocks", exec, own.room, {}, m_block, count);
  }

 private:
  static Info declared(Info info, const ParameterValues& options) {
    if (options.text("rounding") == "stochastic") info.property = Info::Property::unbiased;
    return info;
  }

  index_t m_block;
};

}  // namespace

Entry int8_block() {
  Info info;
  info.name = "int8_block";
  info.summary = "one signed byte per element, scaled by the largest magnitude of its block";
  info.paper = "Dettmers, 8-bit approximations for parallelism in deep learning, ICLR 2016; block-wise: ICLR 2022";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  info.can_resize = true;
  info.feedback = "residual";
  info.granule = 2048;  // a multiple of every block
  info.parameters = {
      Parameter::choice("block", "256", {"256", "512", "1024", "2048"}, "elements that share a scale"),
      Parameter::choice("rounding", "nearest", {"nearest", "stochastic"},
                        "nearest: ties to even; stochastic: unbiased up to 2^-24 of a block's step"),
  };
  info.bytes_formula = "sum over tensors of n + 4 ceil(n / block)";
  info.compress = {1, 0, 1};
  return make_entry<Int8Block>(info);
}

}  // namespace gradcomp::compressors
