// QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic, NeurIPS 2017, section 3.1), with codes of fixed width.
//
// For each group of a tensor: v = ||a||_2 (or max|a|), q = s |a| / v, rounded stochastically. E[decoded] = a, and the
// variance of an element is (v / s)^2 f (1 - f), f the fraction of s |a| / v. With a memory, the v that is sent is
// divided by 1 + w (detail/levels/coded.hpp says why). Sections: f32 v of every group, then the codes. coding=elias
// sends the authors' omega codes (section 3.2) if they are shorter (detail/levels/elias_stage.hpp).
#include <string>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/compressors/detail/levels/elias_stage.hpp"
#include "gradcomp/compressors/detail/levels/norms.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/quantise/quantise.hpp"

namespace gradcomp::compressors {
namespace {

kernels::QuantiseSpec quantise_spec(const ParameterValues& options) {
  kernels::QuantiseSpec spec;
  spec.levels = levels_of(options);
  spec.group = options.integer("group");
  spec.max_norm = options.text("norm") == "max";
  return spec;
}

struct QsgdState final : DenseState {
  QsgdState(const Layout& bucket, const kernels::QuantiseSpec& spec, index_t payload_bytes)
      : DenseState(bucket, payload_bytes), plan(bucket, spec.group, spec.bits(), 1) {
    kept = bucket.counts();
    target.assign(kept.size(), 0);
  }
  index_t scratch_bytes() const override { return plan.scratch_bytes() + static_cast<index_t>(payload.size()); }

  kernels::CodePlan plan;
};

class Qsgd final : public DenseBytes {
 public:
  Qsgd(Info info, ParameterValues options)
      : DenseBytes(std::move(info), std::move(options)),
        m_spec(quantise_spec(this->options())),
        m_shrinks(this->options().text("scale") == "auto") {}

  index_t payload_bytes(const Layout& layout, index_t) const override {
    return kernels::coded_bytes(layout, m_spec.group, m_spec.bits(), 1);
  }

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<QsgdState>(layout, m_spec, payload_capacity(layout));
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const kernels::QuantiseStream stream{step.context.seed, step.context.step,
                                         static_cast<std::uint32_t>(step.context.rank)};
    kernels::quantise(exec, state.as<QsgdState>().plan, m_spec, step.source, stream, shrink(step.source), state.mark(),
                      sections);
  }
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override {
    kernels::decode_codes(exec, state.as<QsgdState>().plan, kernels::LinearCodec{m_spec.levels}, sections.at,
                          sections.weight, sections.admission, out);
  }
  void resize_plans(const Exec& exec, DenseState& state, index_t count) const override {
    state.as<QsgdState>().plan.resize(exec, count);
  }

 private:
  /// With a memory 1 / (1 + w), w of a whole group, because an unbiased C with variance w ||a||^2 is no contraction.
  float shrink(const Source& source) const {
    if (!source.has_memory()) return 1;
    const double w = linear_excess(m_spec.levels, static_cast<double>(m_spec.group));
    if (m_shrinks) return static_cast<float>(1 / (1 + w));
    require(
        w < 1,
        "qsgd: an error of up to {:.3g} ||a||^2 may diverge with a feedback; allowed: scale=auto, more bits, smaller "
        "groups or feedback=none",
        w);
    return 1;
  }

  kernels::QuantiseSpec m_spec;
  bool m_shrinks;  ///< scale=auto
};

std::unique_ptr<Compressor> make_qsgd(const Info& info, const ParameterValues& options) {
  auto fixed = std::make_unique<Qsgd>(info, options);
  if (options.text("coding") == "fixed") return fixed;
  const kernels::QuantiseSpec spec = quantise_spec(options);
  return std::make_unique<EliasStage<kernels::LinearCodec>>(
      std::move(fixed), kernels::LinearCodec{spec.levels},
      FixedCoding{spec.group, spec.bits(), kernels::EliasCode::omega});
}

}  // namespace

Entry qsgd() {
  Info info;
  info.name = "qsgd";
  info.summary = "unbiased stochastic rounding to s levels of a group's norm, packed to ceil(log2(2s + 1)) bits";
  info.paper = "Alistarh et al., QSGD, NeurIPS 2017";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  info.can_resize = true;
  info.granule = 8192;  // a multiple of every group
  info.parameters = {
      Parameter::choice("bits", "4", {"2", "4", "8"}, "bits per element; s = 2^(bits - 1) - 1"),
      Parameter::integer("levels", "0", 0, 127, "number s of levels; 0: follows from bits"),
      Parameter::choice("group", "512", {"64", "128", "256", "512", "1024", "2048", "4096", "8192"},
                        "elements that share a norm")
          .formerly("bucket"),
      Parameter::choice("norm", "l2", {"l2", "max"}, "norm v of a group"),
      coding_parameter("omega"),
      scale_parameter(),
  };
  info.bytes_formula =
      "sum over tensors of 4 ceil(n / group) + ceil(n b / 8), b = ceil(log2(2 s + 1)); coding=elias: at most that";
  return {info, [info](const ParameterValues& options) { return make_qsgd(info, options); }};
}

}  // namespace gradcomp::compressors
