#pragma once
// What the elementwise quantisers with one bytes message share; an allgather carries the message.
//
// A method is a Scheme with these members:
//   using Codec                             levels and codes (kernels/quantise/codecs.hpp)
//   Codec codec; index_t length; int bits;  length of groups; 0: one scale for each tensor
//   Scales scales                           device function object: scales(range, own) writes Codec::words words
//   static constexpr const char* remedy     what an error message allows if w >= 1 forbids a feedback
//   double excess(index_t n) const          w of E||C(a) - a||^2 <= w ||a||^2 for n elements; device function
// An unbiased C with variance w is no contraction. With a memory, the decoded scales are therefore divided by 1 + w:
// ||a - C(a) / (1 + w)||^2 <= w / (1 + w) ||a||^2 on average (Beznosikov et al., JMLR 2023). Sections: those of
// CodePlan.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/kernels/quantise/code_plan.hpp"

namespace gradcomp::compressors {

/// The `group` parameter: the number of elements that share a scale.
inline Parameter group_parameter(const std::string& value) {
  return Parameter::choice("group", value, {"tensor", "256", "512", "1024", "2048", "4096", "8192"},
                           "elements that share a scale; tensor: all elements of a tensor")
      .formerly("bucket")
      .as_shared();
}
inline index_t group_length(const ParameterValues& options) {
  return options.text("group") == "tensor" ? 0 : options.integer("group");
}
inline Parameter scale_parameter() {
  return Parameter::choice("scale", "auto", {"auto", "none"},
                           "auto: with a feedback, decoded values are divided by 1 + w, where w bounds the variance; "
                           "none: they stay unbiased");
}

/// Payload and scales of one bucket; nothing persists between steps.
struct CodedState final : DenseState {
  CodedState(const Layout& bucket, index_t length, int bits, int scale_words, index_t payload_bytes)
      : DenseState(bucket, payload_bytes),
        plan(bucket, length, bits, scale_words),
        ranges(scale_words > 0 ? bucket : Layout{}, length),
        own("gradcomp::compressors::coded::own", static_cast<std::size_t>(plan.scale_count())) {
    kept = bucket.counts();
    target.assign(kept.size(), 0);
  }
  index_t scratch_bytes() const override {
    return plan.scratch_bytes() + ranges.bytes() + static_cast<index_t>(4 * own.size() + payload.size());
  }

  kernels::CodePlan plan;
  kernels::GroupRanges ranges;
  Vector<float> own;  ///< the scales in which the gradient is measured
};

/// own = scales of the ranges; sent = the same scales, divided by 1 + w if `shrink`.
template <class Scheme>
static void write_scales(const Exec& exec, const Scheme& scheme, const Vector<kernels::Range>& ranges, bool shrink,
                         const Span<float>& own, float* sent) {
  Kokkos::parallel_for(
      "gradcomp::compressors::write_scales", IndexRange(exec, 0, static_cast<index_t>(ranges.size())),
      KOKKOS_LAMBDA(const index_t b) {
        constexpr int words = Scheme::Codec::words;
        scheme.scales(ranges(b), own.data() + words * b);
        const double factor = shrink ? 1 / (1 + scheme.excess(ranges(b).count)) : 1.0;
        for (index_t i = words * b; i < words * (b + 1); ++i)
          sent[i] = static_cast<float>(factor * static_cast<double>(own(i)));
      });
}

template <class Scheme>
class Coded final : public DenseBytes {
 public:
  using Codec = typename Scheme::Codec;
  Coded(Info info, ParameterValues options)
      : DenseBytes(resizable(std::move(info)), std::move(options)), m_scheme(Scheme::from(this->options())) {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    return kernels::coded_bytes(layout, m_scheme.length, m_scheme.bits, Codec::words);
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<CodedState>(layout, m_scheme.length, m_scheme.bits, Codec::words, payload_capacity(layout));
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const Source& source = step.source;
    auto& own = state.as<CodedState>();
    check_feedback(source, own.layout);
    constexpr bool form = Codec::words == 0;  // no scales: the first touch of the source encodes
    if constexpr (!form) {
      own.ranges.run(exec, source, own.mark());
      write_scales(exec, m_scheme, own.ranges.ranges(), shrinks(source), own.own, reinterpret_cast<float*>(sections));
    }
    const kernels::QuantiseStream stream{step.context.seed, step.context.step,
                                         static_cast<std::uint32_t>(step.context.rank)};
    kernels::encode_codes(exec, own.plan, m_scheme.codec, source, stream, own.own.data(), form, own.mark(), sections);
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    kernels::decode_codes(exec, state.as<CodedState>().plan, m_scheme.codec, sections.at, sections.weight,
                          sections.admission, out);
  }
  void resize_plans(const Exec& exec, DenseState& state, index_t count) const override {
    auto& own = state.as<CodedState>();
    own.plan.resize(exec, count);
    if (Codec::words > 0) own.ranges.resize(exec, count);
  }

 private:
  static Info resizable(Info info) {
    info.can_resize = true;
    return info;
  }
  bool shrinks(const Source& source) const { return source.has_memory() && m_scheme.shrinks; }

  /// A feedback needs a contraction: w / (1 + w) < 1 always holds for scaled values; unscaled values need w < 1.
  void check_feedback(const Source& source, const Layout& layout) const {
    if (!source.has_memory() || m_scheme.shrinks) return;
    index_t longest = m_scheme.length;
    for (const auto& segment : layout.segments)
      longest = m_scheme.length > 0 ? longest : std::max(longest, segment.count);
    const double w = m_scheme.excess(longest);
    require(w < 1, "{}: an error of up to {:.3g} ||a||^2 may diverge with a feedback; allowed: {} or feedback=none",
            info().name, w, Scheme::remedy);
  }

  Scheme m_scheme;
};

}  // namespace gradcomp::compressors
