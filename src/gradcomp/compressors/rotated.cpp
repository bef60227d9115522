// rotated: quantisation after a randomised Hadamard transform (kernels/sketch/hadamard.hpp). The transform makes every
// group look normal, so that one large element does not cost the others their precision. All ranks share the signs of
// the transform, which are new in every step. y is the rotated group of P elements.
//
// bits=1 (DRIVE; Vargaftik et al., NeurIPS 2021): the signs of y and one scale, ||y||^2 / ||y||_1, for which <C(a), a>
// = ||a||^2. This is unbiased for a uniformly random rotation, and nearly so for this one. (Groups with few nonzeros
// are an exception: (2, 1) always gives (2.5, 0).) With a feedback the scale is divided by 1 + w, w = P ||y||^2 /
// ||y||_1^2 - 1. It is then ||y||_1 / P, the best scale: ||a - C(a)||^2 = ||a||^2 - ||y||_1^2 / P.
//
// bits=2 .. 8 (as in THC; Li et al., NSDI 2024, without its tables and its sums in the network): stochastic rounding to
// 2^bits levels between -t and t, t = max |y|. This is unbiased up to 2^-24 of the distance between levels, because the
// random numbers have 24 bits. The variance is at most P t^2 / L^2, L = 2^bits - 1. clip=c cuts y at t = c ||y|| /
// sqrt(P), which gives up its tails for finer levels. With a feedback the values are divided by 1 + w, w = P t^2 / (L^2
// ||y||^2) of this group, with y as it is cut: a contraction on average. scale=none refuses a feedback if the worst w,
// P / L^2, is not below 1.
//
// A group with an element beyond 2^126 is sent as zeros. A group of zeros is exact. NaN and infinity flag the step.
//
// Payload: f32 scale / sqrt(P) of every group; then for every 32 codes of a group `bits` words, the k-th of which holds
// bit k of all of them. Padding travels: P is `group`, or for the last group of a tensor the next power of two, at
// least 32. Code c means 2 c / (2^bits - 1) - 1; these numbers are rotated back and multiplied by the scale of the
// payload.
//
// Passes (R: read, W: write): 1R + 1W, log2 P additions per element in cache, 1R to encode; with a residual 2R + 2W and
// 3 more on the work array. Decoding rotates every payload back. Work space: 4 bytes for every padded element.
#include <utility>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/random/uniform_rows.hpp"
#include "gradcomp/kernels/sketch/hadamard.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::RotatedGroup;
using kernels::RotatedStats;
using kernels::Warp;
using kernels::warp_lanes;

struct RotatedState final : DenseState {
  RotatedState(const Layout& bucket, index_t length, index_t payload_bytes)
      : DenseState(bucket, payload_bytes),
        rotation(bucket, length),
        limits("gradcomp::compressors::rotated::limits", rotation.groups().size()) {
    kept = bucket.counts();
    target.assign(kept.size(), 0);
  }
  index_t scratch_bytes() const override {
    return rotation.bytes() + static_cast<index_t>(4 * limits.size() + payload.size());
  }

  kernels::Rotation rotation;
  Vector<float> limits;  ///< [groups] t in units of the work array
};

struct Quantiser {
  int bits = 4;
  float clip = 0;
  bool shrinks = true;  ///< with a feedback

  KOKKOS_INLINE_FUNCTION int levels() const { return (1 << bits) - 1; }
};

/// limits[b] = t of group b. scales[b] = what 1 means in a work array of decoded values, before it is rotated back.
void write_scales(const Exec& exec, const Quantiser& quantiser, bool shrink, const RotatedState& state, float* scales) {
  const auto groups = state.rotation.groups();
  const auto all = state.rotation.stats();
  const auto work = state.rotation.work();
  const auto limits = state.limits;
  kernels::for_warps(
      "gradcomp::compressors::rotated_scales", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const RotatedGroup group = groups(b);
        const RotatedStats stats = all(b);
        const double padded = group.padded, levels = quantiser.levels();
        float limit = stats.most, sum_squares = stats.sum_squares;
        const float cut = quantiser.clip * Kokkos::sqrt(stats.sum_squares / static_cast<float>(group.padded));
        if (quantiser.clip > 0 && cut < limit) {
          limit = cut;
          Lanes<float> squares;
          warp.each([&](int l) { squares[l] = 0; });
          for (index_t at = group.work; at < group.work + group.padded; at += warp_lanes) {
            warp.each([&](int l) {
              const float size = Kokkos::abs(work(at + l)), v = size < cut ? size : cut;
              squares[l] += v * v;
            });
          }
          sum_squares = warp.sum(squares);
        }
        const double t = limit, sum = stats.sum_abs, squares = sum_squares;
        double scale = 0;
        if (quantiser.bits == 1) {
          scale = shrink ? sum / padded : squares / sum;
        } else {
          scale = t / (shrink ? 1 + padded * t * t / (levels * levels * squares) : 1.0);
        }
        const bool sends = limit > 0 && stats.largest <= 0x1p126f;
        warp.once([&] {
          limits(b) = limit;
          scales[b] = sends ? static_cast<float>(scale * stats.unit / Kokkos::sqrt(padded)) : 0.0f;
        });
      });
}

/// Writes the codes of the work array. Afterwards the work array holds what they decode to, in units of the scale.
void write_codes(const Exec& exec, const Quantiser& quantiser, const RotatedState& state, const Context& context,
                 std::uint32_t* words) {
  const auto groups = state.rotation.groups();
  const auto work = state.rotation.work();
  const auto limits = state.limits;
  kernels::for_warps(
      "gradcomp::compressors::rotated_codes", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const RotatedGroup group = groups(b);
        const Array4 key =
            stream_key(context.seed, group.segment_id, context.step, static_cast<std::uint32_t>(context.rank));
        const auto top = static_cast<float>(quantiser.levels());
        const float limit = limits(b), per_level = limit > 0 ? 0.5f * top / limit : 0.0f, step = 2 / top;
        for (index_t at = 0; at < group.padded; at += kernels::uniform_elements) {
          Lanes<float> uniform[kernels::uniform_rows];
          if (quantiser.bits > 1) kernels::draw_uniform(warp, key, group.element + at, uniform);
          float* const y = work.data() + group.work + at;
          std::uint32_t* const of_rows = words + (group.work + at) / warp_lanes * quantiser.bits;
          GRADCOMP_UNROLL
          for (int row = 0; row < kernels::uniform_rows; ++row) {
            if (at + row * warp_lanes >= group.padded) break;
            float* const of_row = y + row * warp_lanes;
            Lanes<std::int32_t> code;
            if (quantiser.bits == 1) {
              warp.each([&](int l) { code[l] = of_row[l] < 0 ? 0 : 1; });
            } else {
              warp.each([&](int l) {
                const float x = (of_row[l] + limit) * per_level, position = x < 0 ? 0.0f : x > top ? top : x;
                const auto low = static_cast<std::int32_t>(position);
                code[l] = low + (uniform[row][l] < position - static_cast<float>(low) ? 1 : 0);
              });
            }
            warp.each([&](int l) { of_row[l] = static_cast<float>(code[l]) * step - 1; });
            for (int bit = 0; bit < quantiser.bits; ++bit) {
              const std::uint32_t word = warp.ballot([&](int l) { return ((code[l] >> bit) & 1) != 0; });
              warp.once([&] { of_rows[row * quantiser.bits + bit] = word; });
            }
          }
        }
      });
}

/// Fills the work array from the codes of a payload, if it is admitted. Scales that are not valid are broken.
void read_codes(const Exec& exec, const Quantiser& quantiser, const RotatedState& state, const float* scales,
                const std::uint32_t* words, const Admission& admission) {
  const auto groups = state.rotation.groups();
  const auto work = state.rotation.work();
  kernels::for_warps(
      "gradcomp::compressors::rotated_decode", exec, static_cast<index_t>(groups.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        if (!admission.admits(false)) return;  // Rotation::add() tells of a flag
        const RotatedGroup group = groups(b);
        const float step = 2 / static_cast<float>(quantiser.levels());
        warp.once([&] {
          if (!(Source::is_finite(scales[b]) && scales[b] >= 0)) admission.faults.broken();
        });
        for (index_t at = group.work; at < group.work + group.padded; at += warp_lanes) {
          const std::uint32_t* const row = words + at / warp_lanes * quantiser.bits;
          Lanes<std::uint32_t> code;
          warp.each([&](int l) { code[l] = 0; });
          for (int bit = 0; bit < quantiser.bits; ++bit) {
            const std::uint32_t word = row[bit];
            warp.each([&](int l) { code[l] |= ((word >> l) & 1u) << bit; });
          }
          warp.each([&](int l) { work(at + l) = static_cast<float>(static_cast<std::int32_t>(code[l])) * step - 1; });
        }
      });
}

Info with_property(Info info, const ParameterValues& options) {
  const bool biased = options.text("bits") == "1" || options.real("clip") > 0;
  info.property = biased ? Info::Property::contraction : Info::Property::unbiased;
  return info;
}

class Rotated final : public DenseBytes {
 public:
  Rotated(Info info, const ParameterValues& options)
      : DenseBytes(with_property(std::move(info), options), options),
        m_quantiser{static_cast<int>(options.integer("bits")), static_cast<float>(options.real("clip")),
                    options.text("scale") == "auto"},
        m_length(options.integer("group")) {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    return 4 * kernels::group_count(layout, m_length) + kernels::padded_count(layout, m_length) / 8 * m_quantiser.bits;
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<RotatedState>(layout, m_length, payload_capacity(layout));
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const Source& source = step.source;
    const Context& context = step.context;
    auto& own = state.as<RotatedState>();
    check_feedback(source);
    own.rotation.rotate(exec, source, context.seed, context.step, own.mark());
    auto* const scales = reinterpret_cast<float*>(sections);
    write_scales(exec, m_quantiser, source.has_memory() && m_quantiser.shrinks, own, scales);
    write_codes(exec, m_quantiser, own, context, reinterpret_cast<std::uint32_t*>(scales) + own.limits.size());
    if (source.has_memory()) {
      own.rotation.rotate_back(exec, context.seed, context.step);
      own.rotation.report(exec, source, scales);
    }
  }

  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    auto& own = state.as<RotatedState>();
    const auto* const scales = reinterpret_cast<const float*>(sections.at);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(sections.at) + own.limits.size();
    read_codes(exec, m_quantiser, own, scales, words, sections.admission);
    own.rotation.rotate_back(exec, sections.sender.seed, sections.sender.step);
    own.rotation.add(exec, scales, sections.weight, sections.admission, out);
  }

 private:
  void check_feedback(const Source& source) const {
    const double levels = m_quantiser.levels(), w = static_cast<double>(m_length) / (levels * levels);
    require(!source.has_memory() || m_quantiser.shrinks || w < 1,
            "rotated: an error of up to {:.3g} ||a||^2 may diverge with a feedback; allowed: scale=auto, more bits, "
            "smaller groups or feedback=none",
            w);
  }

  Quantiser m_quantiser;
  index_t m_length;
};

}  // namespace

Entry rotated() {
  Info info;
  info.name = "rotated";
  info.summary = "randomised Hadamard transform of each group, sent as signs (DRIVE) or as levels of 2 to 8 bits";
  info.paper = "Vargaftik et al., DRIVE, NeurIPS 2021; Li et al., THC, NSDI 2024";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.feedbacks = {"none", "residual", "ef21"};
  info.granule = 8192;  // a multiple of every group
  info.parameters = {
      Parameter::choice("bits", "4", {"1", "2", "3", "4", "8"}, "bits per element; 1: signs"),
      Parameter::choice("group", "4096", {"1024", "2048", "4096", "8192"}, "elements that are rotated together")
          .formerly("bucket"),
      Parameter::real("clip", "0", 0, 10,
                      "bits=2 .. 8: largest level, in standard deviations of a rotated group; 0: its largest element"),
      scale_parameter(),
  };
  info.bytes_formula =
      "sum over tensors of 4 ceil(n / group) + P bits / 8, P = n with the last group padded to a power of two >= 32";
  info.compress = {2, 1, 0};
  return make_entry<Rotated>(info);
}

}  // namespace gradcomp::compressors
