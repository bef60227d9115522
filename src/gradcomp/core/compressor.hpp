#pragma once
// The contract of a gradient compressor.
//
// One step of one bucket:
//   for round in 0 .. rounds-1:   produce(round) -> Message;  the exchange carries it;  consume(round)
//   finish() -> out, the estimate of the mean gradient
// If a method has a single round of bytes, the exchange itself computes out = mean over ranks of decode_add(payload),
// and calls neither consume() nor finish(). Methods derive from CompressorOf<their State> (core/compressor_of.hpp).
//
// Rules, checked by tests/conformance for every registered method:
//  - Nothing is allocated after prepare(). Equal inputs give equal bytes, for any number of threads.
//  - Batched launches process all segments of the layout. No function calls a global fence.
//  - Non-finite gradient elements never enter a message or a memory. Instead the message is flagged: a summable one by
//    NaN in element 0 (+infinity if the reduction is a maximum), a bytes one by PayloadHeader::flag_skip. A flagged
//    payload has no sections, or, if the host could not know of the flag, sections that receivers ignore. All ranks
//    skip the step, and give_back() returns to the memory what had been sent.
//  - Unless Info::host_sizes is set, no function waits for a device (docs/concepts.md, "What the host may know").
//  - decode_add() trusts no byte: it throws Error for a wrong length, index or count, and never writes outside `out`.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradcomp/core/info.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/memories.hpp"
#include "gradcomp/core/message.hpp"
#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"

namespace gradcomp {

/// Where a step happens. Seed, step and rank are the keys of random streams.
struct Context {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  int rank = 0;
  int ranks = 1;
  /// Whether the host may read what kernels wrote, and decide by it, without waiting. False on devices; tests set it to
  /// false on hosts to run the code of devices there. Bytes do not depend on it.
  bool host_looks = device_is_host;
  double rate = 1;             ///< learning rate with which the mean of the step is applied; 1 outside a training
  std::int64_t exchange = -1;  ///< number of this exchange, counted from 0; -1: that of the step

  /// What alternates does so by this number. By the step it would not alternate if every fourth step exchanges.
  std::int64_t turn() const { return exchange < 0 ? step : exchange; }
};

/// Everything that a compressor remembers between steps (memories()), and its work space (the rest). One per bucket.
class State {
 public:
  explicit State(Layout bucket) : layout(std::move(bucket)) {}
  virtual ~State() = default;
  /// Factors of the last step, counts of stages, thresholds: part of checkpoints and of state_bytes.
  virtual Memories memories() { return {}; }
  /// Bytes of the work space, for the report of memory.
  virtual index_t scratch_bytes() const { return 0; }
  /// Called once after prepare() if the sources will have a memory; allocates what only such sources need.
  virtual void remember() {}
  /// Shortens a layout of one segment to `count` elements; allocates nothing.
  void resize(index_t count);
  /// Sets `context`. A composition passes it on to the States of its parts.
  virtual void follow(const Context& other) { context = other; }

  Layout layout;  ///< what prepare() was given

  /// For each segment, the number of entries that the last produce() kept, and the number that it aimed at (0: none).
  /// The report of densities reads both.
  std::vector<index_t> kept;
  std::vector<index_t> target;

  /// Seed, step and rank with which the payloads that decode_add() gets were made: those of the last produce(), unless
  /// follow() has changed them (Receiver::add_from()).
  Context context;

  Verdict verdict;  ///< of decodings outside the exchange: in give_back(), and of a composition's own values
};

class Compressor {
 public:
  Compressor(Info info, ParameterValues options);
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  const Info& info() const { return m_info; }
  const ParameterValues& options() const { return m_options; }
  int rounds() const { return static_cast<int>(m_info.rounds.size()); }

  /// Allocates everything that a bucket of this layout needs.
  virtual std::unique_ptr<State> prepare(const Layout& layout) const = 0;

  /// Largest size of a bytes message for this layout, header included (0 for summable methods).
  virtual index_t payload_capacity(const Layout& layout) const = 0;

  /// Bytes of the messages of one step with `kept` entries in all, headers excluded. `kept` is ignored if the size is
  /// fixed. If has_fixed_bytes() is false, this is an upper bound.
  virtual index_t payload_bytes(const Layout& layout, index_t kept) const = 0;
  /// False if the size of messages depends on more of the data than the number of entries.
  virtual bool has_fixed_bytes() const { return true; }

  /// Largest number of entries of a message with Message::sparse for this layout; 0: messages are not sparse.
  virtual index_t max_kept(const Layout& /*layout*/) const { return 0; }

  /// Makes the message of `round` from the source. After the call the source's memory holds what was not sent.
  virtual void produce(const Exec& exec, int round, const Source& source, State& state, const Context& context,
                       Message& message) const = 0;

  /// Takes the reduced message of a summable round. Only finish() writes `out` and the memory.
  virtual void consume(const Exec&, int /*round*/, const Message&, State&, const Context&) const {}

  /// Summable methods: writes the estimate of the mean gradient to `out`, and what was not sent to the memory. If a
  /// rank flagged the step, raises the verdict's flag; `out` is then unspecified, and the memory holds a.
  virtual void finish(const Exec& exec, const Source& source, State& state, const Context& context,
                      const Span<float>& out, Verdict& verdict) const;

  /// Bytes methods: out += weight * decoded. If the bytes are not a payload of this method for this layout, throws
  /// Error, or lets the verdict throw later if the host does not see the bytes. `out` is then unspecified, but
  /// nothing outside it is written. A flagged payload adds nothing and raises the verdict's flag.
  virtual void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                          const Span<float>& out, Verdict& verdict) const;

  /// After a skipped step: returns to the memory of `source` what the last step took out of it. If finish() was called,
  /// `out` is what it wrote. Default: bytes methods decode their own payload into the memory. A velocity that the step
  /// masked stays masked.
  virtual void give_back(const Exec& exec, const Source& source, State& state, const Message& message,
                         const Span<const float>& out) const;

  /// Whether resize() may be called: the method can then code the values that another method keeps (value coders).
  virtual bool can_resize() const { return false; }
  /// Restricts a State that was prepared for one segment to the first `count` elements of this segment. Layout, lengths
  /// and messages are then as if it had been prepared for `count` elements. Allocates nothing.
  virtual void resize(const Exec& exec, State& state, index_t count) const;

  /// The header of this method's payloads.
  PayloadHeader header(index_t elements, index_t kept) const;

 private:
  Info m_info;
  ParameterValues m_options;
};

}  // namespace gradcomp
