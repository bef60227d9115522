#pragma once
// What the quantisers with integer sums (global_qsgd, terngrad) share. All ranks use the same scales, so that a reducer
// can add their levels.
//
// Round 0: f32 maximum over the ranks of each group's scale. Round 1: sum of the ranks' levels, each in -s .. s, as i8
// or in fields of i32 (kernels/pack/packed_levels.hpp). s W <= 127 for W ranks (4 bits: 7, 16 bits: 32767), so no
// partial sum can wrap. out = scale / (s W) * sum. A rank whose gradient is not finite sends +infinity as its first
// scale. All ranks see it in the maximum.
#include <cmath>
#include <memory>
#include <utility>

#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/pack/packed_levels.hpp"
#include "gradcomp/kernels/quantise/level_codes.hpp"

namespace gradcomp::compressors {

/// Work space of one bucket: own levels, their sums and the scales. Nothing persists between steps.
struct SummedState final : State {
  SummedState(const Layout& bucket, index_t length, int field_bits);
  index_t scratch_bytes() const override;

  kernels::CodePlan plan;
  kernels::GroupRanges ranges;
  /// [groups] own scales, the message of round 0, its maximum, and scales of what is decoded
  Vector<float> own, offered, shared, sent;
  int bits;                         ///< of a sum: 4, 8 or 16
  Vector<std::int8_t> codes, sums;  ///< [n], if bits is 8
  kernels::PackedLevels packed;     ///< for the other widths
  Vector<std::int32_t> words, word_sums;
  kernels::LinearCodec codec;  ///< of this step
  double factor = 1;           ///< by which decoded values are multiplied; below 1 if a feedback needs it
  Vector<std::uint32_t> bad;   ///< [1] of Mark: this rank's gradient is not finite
};

/// The steps that are the same for all methods: the messages of both rounds, and finish().
Message offer_scales(const Exec& exec, const SummedState& state);
Message send_levels(const Exec& exec, const SummedState& state, const Step& step);
void finish_levels(const Exec& exec, const SummedState& state, const Step& step);

/// A method is a Scheme with these members:
///   index_t length; Scales scales            as in detail/levels/coded.hpp, one word
///   int sum_bits                             width of a sum of levels: 4, 8 or 16
///   static constexpr int max_levels          upper bound of s, which is min(max_levels, (2^(sum_bits - 1) - 1) / W)
///   double excess(levels, n)                 w for n elements; remedy as in detail/levels/coded.hpp
template <class Scheme>
class SummedLevels final : public Compressor {
 public:
  SummedLevels(Info info, ParameterValues options)
      : Compressor(std::move(info), std::move(options)), m_scheme(Scheme::from(this->options())) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<SummedState>(layout, m_scheme.length, m_scheme.sum_bits);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    const index_t levels =
        m_scheme.sum_bits == 8 ? layout.count() : 4 * kernels::packed_words(layout, m_scheme.sum_bits);
    return 4 * kernels::group_count(layout, m_scheme.length) + levels;
  }

  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    auto& own = state.as<SummedState>();
    if (round == 1) return send_levels(exec, own, step);
    const int max_sum = kernels::max_summed(m_scheme.sum_bits), ranks = step.context.ranks;
    require(ranks <= max_sum, "{}: sums of {} bits hold the levels of at most {} ranks, but there are {}", info().name,
            m_scheme.sum_bits, max_sum, ranks);
    own.codec.levels = std::min(Scheme::max_levels, max_sum / ranks);
    own.factor = factor(step.source, own, step.context);
    own.ranges.run(exec, step.source, Mark{own.bad.data()});
    write_scales(exec, m_scheme, own.ranges.ranges(), false, Span<float>(own.own), own.offered.data());
    return offer_scales(exec, own);
  }

  void finish(const Exec& exec, const Step& step, State& state) const override {
    finish_levels(exec, state.as<SummedState>(), step);
  }

 private:
  /// 1 / (1 + w) with a feedback. w is that of all ranks' elements together, because their common norm bounds the
  /// scale.
  double factor(const Source& source, const SummedState& state, const Context& context) const {
    if (!source.has_memory()) return 1;
    index_t longest = m_scheme.length;
    for (const auto& segment : state.layout.segments)
      longest = m_scheme.length > 0 ? longest : std::max(longest, segment.count);
    const double w = m_scheme.excess(state.codec.levels, static_cast<double>(longest) * context.ranks);
    if (m_scheme.shrinks) return 1 / (1 + w);
    require(w < 1, "{}: an error of up to {:.3g} ||a||^2 may diverge with a feedback; allowed: {} or feedback=none",
            info().name, w, Scheme::remedy);
    return 1;
  }

  Scheme m_scheme;
};

}  // namespace gradcomp::compressors
