#include "gradcomp/compressors/detail/levels/ternary.hpp"

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/kernels/pack/base3.hpp"
#include "gradcomp/kernels/quantise/level_codes.hpp"

namespace gradcomp::compressors {
namespace {

/// The part of a Scheme that write_scales() needs.
struct OwnScale {
  using Codec = kernels::LinearCodec;
  TernaryScale scales;
  KOKKOS_INLINE_FUNCTION double excess(index_t) const { return 0; }
};

struct Base3State final : DenseState {
  Base3State(const Layout& bucket, index_t payload_bytes)
      : DenseState(bucket, payload_bytes),
        plan(bucket, 0, 8, 1),
        ranges(bucket, 0),
        base3(bucket),
        own("gradcomp::compressors::base3::own", static_cast<std::size_t>(plan.groups)),
        codes("gradcomp::compressors::base3::codes", static_cast<std::size_t>(bucket.count())) {
    kept = bucket.counts();
    target.assign(kept.size(), 0);
  }
  index_t scratch_bytes() const override {
    return plan.scratch_bytes() + ranges.bytes() + base3.scratch_bytes() +
           static_cast<index_t>(4 * own.size() + codes.size() + payload.size());
  }

  kernels::CodePlan plan;
  kernels::GroupRanges ranges;
  kernels::Base3 base3;
  Vector<float> own;
  Vector<std::int8_t> codes;
};

class Base3Ternary final : public DenseBytes {
 public:
  Base3Ternary(Info info, const ParameterValues& options) : DenseBytes(std::move(info), options) {
    m_scale.scales.clip = options.real("clip");
  }

  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 4 * kernels::group_count(layout, 0);
    for (const auto& segment : layout.segments) bytes += (segment.count + 4) / 5;
    return bytes;
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<Base3State>(layout, payload_capacity(layout));
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    require(!step.source.has_memory(), "terngrad diverges with a feedback; allowed: feedback=none");
    auto& own = state.as<Base3State>();
    own.ranges.run(exec, step.source, own.mark());
    auto* const scales = reinterpret_cast<float*>(sections);
    write_scales(exec, m_scale, own.ranges.ranges(), false, Span<float>(own.own), scales);
    const kernels::QuantiseStream stream{step.context.seed, step.context.step,
                                         static_cast<std::uint32_t>(step.context.rank)};
    kernels::encode_levels(exec, own.plan, kernels::LinearCodec{1}, step.source, stream, scales, scales, scales,
                           Span<std::int8_t>(own.codes));
    own.base3.pack(exec, Span<const std::int8_t>(own.codes), reinterpret_cast<std::uint8_t*>(scales + own.plan.groups));
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    const auto& own = state.as<Base3State>();
    const auto* const scales = reinterpret_cast<const float*>(sections.at);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(scales + own.plan.groups);
    own.base3.unpack_add(exec, bytes, scales, sections.weight, sections.admission, out);
  }

 private:
  OwnScale m_scale;
};

}  // namespace

std::unique_ptr<Compressor> make_base3_ternary(Info info, const ParameterValues& options) {
  return std::make_unique<Base3Ternary>(std::move(info), options);
}

}  // namespace gradcomp::compressors
