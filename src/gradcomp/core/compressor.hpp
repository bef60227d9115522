#pragma once
// The contract of a gradient compressor.
//
// One step of one bucket:
//   for round in 0 .. rounds-1:   produce(round) -> Message;  the exchange carries it;  consume(round)
//   finish() writes the estimate of the mean gradient to step.mean
// If a method has a single round of bytes, the exchange itself computes the mean over ranks of decode_add(payload), and
// calls neither consume() nor finish(). A method that keeps more than a State has asks for it with state.as<Own>().
//
// Rules, checked by tests/conformance for every registered method:
//  - Nothing is allocated after prepare(). Equal inputs give equal bytes, for any number of threads.
//  - Batched launches process all segments of the layout. No function calls a global fence.
//  - Non-finite gradient elements never enter a memory. Instead the message is flagged: a summable one by NaN in
//    element 0 (+infinity if the reduction is a maximum), a bytes one by PayloadHeader::flag_diverged. All ranks see it
//    and the run of the method ends, so what else the message and the mean hold does not matter.
//  - Whoever reads a message or a sum of other ranks counts what he finds in step.faults or received.faults: a flag or
//    a sum that is not finite as diverged, what no sender writes as broken. Nonsense may give nonsense, but it is never
//    used as an index, and never converted to an integer unchecked.
//  - Unless Info::host_sizes is set, no function waits for a device (docs/concepts.md, "What the host may know").
#include <memory>
#include <span>
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

/// One step of one bucket, as its compressor sees it.
struct Step {
  Source source;
  Span<float> mean;  ///< where finish() writes the estimate, as many elements as the source; work space until then
  Context context;
  FaultCounts faults;
};

/// A payload that has arrived.
struct Received {
  Span<const std::byte> bytes;
  Context sender = {};  ///< under which it was made
  float weight = 1;
  FaultCounts faults = {};
};

/// For decoders that have read the header on the host, and found a flag: does what decode_add() promises. Throws Error,
/// which names the method, if sections follow the header.
void take_flag(const Exec& exec, const Received& received, const std::string& method, const Span<float>& out);

/// Everything that a compressor remembers between steps (memories()), and its work space (the rest). One per bucket.
class State {
 public:
  explicit State(Layout bucket) : layout(std::move(bucket)) {}
  virtual ~State() = default;
  /// Factors of the last step, counts of stages, thresholds: part of checkpoints and of state_bytes.
  virtual Memories memories() { return {}; }
  /// Bytes of the work space, for the report of memory.
  virtual index_t scratch_bytes() const { return 0; }

  /// This State as the type that the method's prepare() makes.
  template <class Own>
  Own& as() {
    return static_cast<Own&>(*this);
  }

  Layout layout;  ///< what prepare() was given

  /// For each segment, the number of entries that the last produce() kept, and the number that it aimed at (0: none).
  /// The report of densities reads both.
  std::vector<index_t> kept;
  std::vector<index_t> target;
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

  /// Bytes of the messages of one step with `kept` entries in all, headers excluded. `kept` is ignored if the size is
  /// fixed. If Info::fixed_bytes is false, this is an upper bound.
  virtual index_t payload_bytes(const Layout& layout, index_t kept) const = 0;

  /// Largest size of a bytes message for this layout, header included (0 for summable methods).
  virtual index_t payload_capacity(const Layout& layout) const;

  /// Largest number of entries of a message with Message::sparse for this layout; 0: messages are not sparse.
  virtual index_t max_kept(const Layout& /*layout*/) const { return 0; }

  /// Makes the message of `round` from the source. After the call the source's memory holds what was not sent.
  virtual Message produce(const Exec& exec, int round, const Step& step, State& state) const = 0;

  /// Takes the reduced message of a summable round. Only finish() writes the mean and the memory.
  virtual void consume(const Exec&, int /*round*/, const Message&, const Step&, State&) const {}

  /// Summable methods: writes the estimate of the mean gradient to step.mean, and what was not sent to the memory.
  virtual void finish(const Exec& exec, const Step& step, State& state) const;

  /// Bytes methods: out += weight * decoded. Throws Error for a wrong length; trusts no byte and never writes outside
  /// `out`. A flagged payload is counted and adds nothing, but element 0 of `out` becomes NaN: what is made of the sum
  /// is then flagged too.
  virtual void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const;

  /// Bytes methods: out = what decode_add() adds for all `messages`, in their order, to zeros. Methods override it that
  /// need fewer passes over `out` than one for each message and one for the zeros.
  virtual void decode_sum(const Exec& exec, std::span<const Received> messages, State& state,
                          const Span<float>& out) const;

  /// If Info::can_resize is set, the method can code the values that another method keeps (value coders): restricts a
  /// State that was prepared for one segment to the first `count` elements of this segment. Layout, lengths and
  /// messages are then as if it had been prepared for `count` elements. Allocates nothing.
  virtual void resize(const Exec& exec, State& state, index_t count) const;

  /// The header of this method's payloads.
  PayloadHeader header(index_t elements, index_t kept) const;

 private:
  Info m_info;
  ParameterValues m_options;
};

}  // namespace gradcomp
