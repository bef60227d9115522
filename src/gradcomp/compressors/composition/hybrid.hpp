#pragma once
// A hybrid: a sparsifier chooses entries, and a value coder codes their values as one flat tensor, as in `top_k+qsgd`
// (Basu et al., "Qsparse-local-SGD", NeurIPS 2019).
//
// Decoded are the values c q_j at the chosen indices; q is what the receivers of the coder decode for the values v.
// Without a memory c = 1, so if the coder is unbiased, the decoded values are unbiased too. With a memory c = <v, q> /
// <q, q>, limited to [0, 1]. This c has the smallest error |v - c q|, and the memory keeps v - c q at the chosen
// indices. An unbiased coder of variance w |v|^2 is no contraction by itself, but with this c the hybrid always is: |v
// - c q|^2 <= |v|^2, and on average at most w / (1 + w) |v|^2, which c = 1 / (1 + w) would reach. Behind top_k, this
// gives |a - C(a)|^2 <= (1 - (k / n) / (1 + w)) |a|^2.
//
// Payload: the sparsifier's section of indices and its flags; f32 c; the coder's sections for `kept` elements. The
// coded entries of several ranks cannot be merged, so the reducer is an allgather.
#include "gradcomp/compressors/composition/composition.hpp"

namespace gradcomp::compressors {

struct HybridState final : State {
  /// `max_entries`: largest number of entries of a message. `sparse_bytes`, `coder_bytes`: capacity of the payloads of
  /// the parts, to which the two states belong.
  HybridState(const Layout& bucket, std::unique_ptr<State> sparse_state, std::unique_ptr<State> coder_state,
              index_t max_entries, index_t sparse_bytes, index_t coder_bytes);

  Memories memories() override { return sparse->memories(); }
  index_t scratch_bytes() const override;
  index_t max_entries() const { return static_cast<index_t>(decoded.size()); }

  std::unique_ptr<State> sparse, coder;
  Vector<float> decoded;                        ///< [max_entries] what the coder decodes to
  Vector<double> partial;                       ///< [2 x chunks of 4096] sums for c
  Vector<std::byte> payload;                    ///< what is sent
  Vector<std::byte> sparse_plain, coder_plain;  ///< payloads of the parts, which decode_add() puts together
};

class Hybrid final : public Compressor {
 public:
  Hybrid(std::shared_ptr<const Compressor> sparsifier, std::shared_ptr<const Compressor> coder);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override;
  index_t payload_bytes(const Layout& layout, index_t kept) const override;
  Message produce(const Exec& exec, int round, const Step& step, State& state) const override;
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override;

 private:
  std::shared_ptr<const Compressor> m_sparsifier, m_coder;
};

}  // namespace gradcomp::compressors
