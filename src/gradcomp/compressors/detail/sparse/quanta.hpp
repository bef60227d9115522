#pragma once
// Threshold quanta: an entry beyond a threshold tau leaves as its index, its sign and nothing else; receivers add +-tau
// (Strom, INTERSPEECH 2015). What strom and adaptive_threshold share: everything but where tau comes from.
//
// An entry is sent where |a| > tau. quanta=single: one quantum, so that an element that grows by more than tau per step
// is never caught up. quanta=multi: floor(|a| / tau) of them, 65535 at most. The memory keeps a - decoded.
// Payload: f32 tau for each value of tau (one for the bucket, or one per segment), then `kept` u32 words, ascending:
//   index << 1 | sign (1: negative), the index relative to the bucket, hence below 2^31
// and with quanta=multi one u16 number of quanta for each of them, padded with zeros to a multiple of 4 bytes.
// Passes: 2 reads and 1 write with the residual, 1 read to choose; kept entries are touched twice more.
#include <memory>
#include <vector>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::compressors {

/// Work space of one bucket: about 8 n bytes for the payload (10 n with counts), 4 n for values, 0.7 n for candidates.
struct QuantaState : State {
  /// `taus`: values of tau in a payload.
  QuantaState(const Layout& bucket, index_t taus, bool counts);

  index_t scratch_bytes() const override;

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::Selector selector;
  std::vector<kernels::Selection> selections;
  std::vector<float> thresholds;    ///< [segments] tau of this step; may be 0 in a segment of zeros
  std::vector<float> sent_taus;     ///< [taus] as they are in a payload
  std::vector<index_t> ends;        ///< [segments] one behind each segment's last element
  Vector<index_t> device_ends;      ///< [segments]
  Vector<float> device_thresholds;  ///< [segments] of the payload being made or read
  Vector<float> values;             ///< [elements] of kept entries
  Vector<std::byte> payload;
};

class QuantaMethod : public CompressorOf<QuantaState> {
 public:
  /// `per_segment`: whether every segment has a tau of its own.
  QuantaMethod(Info info, ParameterValues options, bool per_segment);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override;
  index_t payload_bytes(const Layout& layout, index_t kept) const override;
  void do_produce(const Exec& exec, int round, const Source& source, QuantaState& state, const Context& context,
                  Message& message) const override;
  void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, QuantaState& state,
                     const Span<float>& out, Verdict& verdict) const override;

 protected:
  /// A state with what the method remembers besides.
  virtual std::unique_ptr<QuantaState> make_state(const Layout& layout) const;
  /// Fills state.thresholds; state.first holds the statistics of a.
  virtual void choose_thresholds(QuantaState& state) const = 0;
  /// After the choice, state.kept is what each segment sent.
  virtual void record(QuantaState& /*state*/) const {}

  index_t taus(const Layout& layout) const;
  bool counts() const { return m_counts; }

 private:
  bool m_per_segment, m_counts;
};

/// The `quanta` parameter.
Parameter quanta_parameter();

/// Info of such a method, with the parameters `own`.
Info quanta_info(const std::string& name, const std::string& summary, const std::string& paper,
                 std::vector<Parameter> own);

}  // namespace gradcomp::compressors
