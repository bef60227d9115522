#pragma once
// A hybrid: a sparsifier chooses entries, a value coder codes their values as one flat tensor (`top_k+qsgd`; as of
// Basu et al., "Qsparse-local-SGD", NeurIPS 2019).
//
// Decoded: c q_j at the chosen indices, q what the coder's receivers decode for the values v. Without a memory c = 1:
// where the coder is unbiased, so are the chosen entries. With one c = <v, q> / <q, q>, within [0, 1], is what misses
// least of v, and the memory keeps v - c q at the chosen indices. An unbiased coder of variance w |v|^2 is no
// contraction by itself; with this c the hybrid always is one: |v - c q|^2 <= |v|^2, in the mean no more than
// w / (1 + w) |v|^2 (what c = 1 / (1 + w) misses), hence |a - C(a)|^2 <= (1 - (k / n) / (1 + w)) |a|^2 behind top_k.
// Payload: the sparsifier's section of indices and flags; f32 c; the coder's sections for `kept` elements. The entries
// of several ranks cannot be merged as they are: an allgather carries them.
#include "gradcomp/compressors/composition/composition.hpp"

namespace gradcomp::compressors {

struct HybridState final : State {
  /// `max_entries`: entries that a message can have; both states are of the parts, whose payloads take up to these
  /// bytes.
  HybridState(const Layout& bucket, std::unique_ptr<State> sparse_state, std::unique_ptr<State> coder_state,
              index_t max_entries, index_t sparse_bytes, index_t coder_bytes);

  Memories memories() override { return sparse->memories(); }
  index_t scratch_bytes() const override;
  index_t max_entries() const { return static_cast<index_t>(decoded.size()); }

  std::unique_ptr<State> sparse, coder;
  Message entries, values;                      ///< of the parts
  Vector<float> decoded;                        ///< [max_entries] what the coder decodes to
  Vector<double> partial;                       ///< [2 x chunks of 4096] sums for c
  Vector<std::byte> payload;                    ///< what is sent
  Vector<std::byte> sparse_plain, coder_plain;  ///< payloads of the parts, put together by decode_add()
};

class Hybrid final : public CompressorOf<HybridState> {
 public:
  Hybrid(std::shared_ptr<const Compressor> sparsifier, std::shared_ptr<const Compressor> coder);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override;
  index_t payload_bytes(const Layout& layout, index_t kept) const override;
  bool has_fixed_bytes() const override { return m_sparsifier->has_fixed_bytes(); }
  void do_produce(const Exec& exec, int round, const Source& source, HybridState& state, const Context& context,
                  Message& message) const override;
  void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, HybridState& state,
                     const Span<float>& out, Verdict& verdict) const override;

 private:
  std::shared_ptr<const Compressor> m_sparsifier, m_coder;
};

}  // namespace gradcomp::compressors
