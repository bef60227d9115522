#include "gradcomp/compressors/top_k.hpp"

#include "gradcomp/compressors/detail/sparse_state.hpp"

namespace gradcomp::compressors {

class TopK final : public Compressor {
 public:
  TopK(Info info, Options options)
      : Compressor(std::move(info), std::move(options)), m_ratio(this->options().real("ratio")) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    auto state = std::make_unique<SparseState>(layout, m_ratio, payload_capacity(layout));
    for (std::size_t s = 0; s < layout.segments.size(); ++s) state->requests[s].k = state->target[s];
    return state;
  }
  index_t payload_capacity(const Layout& layout) const override {
    return payload_header_bytes + payload_bytes(layout, 0);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    return coders::sparse_bytes(target_kept(m_ratio, layout));
  }

  void produce(const Exec& exec, int, const Source& source, State& state, const Context&,
               Message& message) const override {
    auto& own = static_cast<SparseState&>(state);
    own.first.run(exec, own.tiles, source);
    if (own.first.non_finite() > 0) {
      send_flag(exec, own, header(source.count, 0), message);
    } else {
      send_chosen(exec, source, own, header(source.count, 0), message);
    }
  }

  void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                  const Span<float>& out) const override {
    coders::decode_sparse(exec, payload, header(state.layout.count(), 0), target_kept(m_ratio, state.layout), weight,
                          out);
  }

 private:
  double m_ratio;
};

Entry top_k() {
  Info info;
  info.name = "top_k";
  info.summary = "the k entries of largest magnitude, exactly";
  info.paper = "Aji & Heafield, EMNLP 2017; Stich et al., NeurIPS 2018; Alistarh et al., NeurIPS 2018";
  info.family = Info::Family::sparsifier;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather"};
  info.feedback = "residual";
  info.parameters = {Parameter::real("ratio", "0.01", 0, 1, "target density: kept / n of each segment", true)};
  info.bytes_formula = "8 k, k = sum over segments of max(1, floor(ratio n))";
  info.passes = 4;
  return make_entry<TopK>(info);
}

}  // namespace gradcomp::compressors
