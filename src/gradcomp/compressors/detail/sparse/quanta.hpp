#pragma once
// Threshold quanta: an entry whose magnitude exceeds a threshold tau is sent as its index and sign alone, and receivers
// add +-tau (Strom, INTERSPEECH 2015). strom and adaptive_threshold share everything except the choice of tau.
//
// An entry is sent if |a| > tau. quanta=single sends one quantum, so an element that grows by more than tau per step is
// never caught up. quanta=multi sends floor(|a| / tau) quanta, at most 65535. The memory keeps a - decoded.
//
// Payload: f32 tau (one for the bucket, or one for each segment), then `kept` u32 words in ascending order:
//   index << 1 | sign (1: negative); the index counts from the start of the bucket and is below 2^31
// With quanta=multi, a u16 number of quanta for each word follows, padded with zeros to a multiple of 4 bytes.
//
// Passes: 2 reads and 1 write with the residual, 1 read to choose; kept entries are touched twice more.
#include <memory>
#include <vector>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::compressors {

/// Work space of one bucket: about 8 n bytes for the payload (10 n with counts), 4 n for values, 0.7 n for candidates.
struct QuantaState : State {
  /// `taus`: number of thresholds in a payload. `counts`: whether the payload holds numbers of quanta.
  QuantaState(const Layout& bucket, index_t taus, bool counts);

  index_t scratch_bytes() const override;

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::Selector selector;
  std::vector<kernels::Selection> selections;
  std::vector<float> thresholds;    ///< [segments] tau of this step; may be 0 in a segment of zeros
  std::vector<float> sent_taus;     ///< [taus] the thresholds as a payload holds them
  std::vector<index_t> ends;        ///< [segments] index behind each segment's last element
  Vector<index_t> device_ends;      ///< [segments]
  Vector<float> device_thresholds;  ///< [segments] of the payload being made or read
  Vector<float> values;             ///< [elements] values of kept entries
  Vector<std::byte> payload;
};

class QuantaMethod : public Compressor {
 public:
  /// `per_segment`: whether every segment has its own tau.
  QuantaMethod(Info info, ParameterValues options, bool per_segment);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override;
  index_t payload_bytes(const Layout& layout, index_t kept) const override;
  Message produce(const Exec& exec, int round, const Step& step, State& state) const override;
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override;

 protected:
  /// Makes a state with what the method remembers in addition.
  virtual std::unique_ptr<QuantaState> make_state(const Layout& layout) const;
  /// Fills state.thresholds. state.first holds the statistics of a.
  virtual void choose_thresholds(QuantaState& state) const = 0;
  /// Called after the choice: state.kept[s] is the number of entries that segment s sends.
  virtual void record(QuantaState& /*state*/) const {}

  index_t taus(const Layout& layout) const;
  bool counts() const { return m_counts; }

 private:
  bool m_per_segment, m_counts;
};

/// The `quanta` parameter.
Parameter quanta_parameter();

/// Info of such a method; its parameters are `own` and `quanta`.
Info quanta_info(const std::string& name, const std::string& summary, const std::string& paper,
                 std::vector<Parameter> own);

}  // namespace gradcomp::compressors
