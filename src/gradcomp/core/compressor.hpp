#pragma once
// The contract of a gradient compressor.
//
// One step of one bucket:
//   for round in 0 .. rounds-1:   produce(round) -> Message;  the exchange carries it;  consume(round)
//   finish() -> out, the estimate of the mean gradient
// A method of one bytes round is carried by the exchange itself: out = mean over ranks of decode_add(payload), and
// neither consume() nor finish() is called. Methods derive from CompressorOf<their State> (core/compressor_of.hpp).
//
// Rules, checked by tests/conformance for every registered method:
//  - Nothing is allocated after prepare(). Same inputs, same bytes, for any thread count.
//  - All segments of the layout are treated in batched launches; nothing fences globally.
//  - Non-finite gradient elements never enter a message or a memory: the message is flagged (NaN in element 0 of a
//    summable one, PayloadHeader::flag_skip in a bytes one, whose sections then are empty, or not looked at where the
//    host could not know), all ranks skip the step, and give_back() returns to the memory what had been sent.
//  - Unless Info::host_sizes, no function waits for a device (docs/concepts.md, "What the host may know").
//  - decode_add() trusts no byte: a wrong length, index or count throws Error, and `out` is never written outside.
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

/// Where a step happens: the key material of random streams.
struct Context {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  int rank = 0;
  int ranks = 1;
  /// False: the host decides nothing by what kernels wrote before it waits for them. So it is on devices; tests clear
  /// it to run the same on a host. Bytes do not depend on it.
  bool host_looks = device_is_host;
  double rate = 1;  ///< learning rate that the step's mean is applied with; 1 where nobody trains
};

/// All that a compressor remembers between steps (memories()) or needs as work space (the rest). One per bucket.
class State {
 public:
  explicit State(Layout bucket) : layout(std::move(bucket)) {}
  virtual ~State() = default;
  /// Warm-started factors, stage counts, thresholds: checkpointed, and reported as state bytes.
  virtual Memories memories() { return {}; }
  /// Work space, for the report of memory.
  virtual index_t scratch_bytes() const { return 0; }
  /// Called once, after prepare(), where the sources will have a memory: allocates what only that needs.
  virtual void remember() {}
  /// Shortens a layout of one segment to `count` elements; allocates nothing.
  void resize(index_t count);

  Layout layout;  ///< what prepare() was given

  /// Entries that the last produce() kept, and what the method was asked for (0: it has no target). For the quality
  /// monitor: one value per segment.
  std::vector<index_t> kept;
  std::vector<index_t> target;

  Verdict verdict;  ///< for those who decode outside a step: give_back(), a composition's own values
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

  /// Most bytes of a bytes message for this layout, header included (0 for summable methods).
  virtual index_t payload_capacity(const Layout& layout) const = 0;

  /// The card's formula: bytes of one step's messages with `kept` entries in all, header excluded. `kept` is ignored
  /// where the size is fixed. Where it depends on the data too (has_fixed_bytes() is false): the most they can be.
  virtual index_t payload_bytes(const Layout& layout, index_t kept) const = 0;
  virtual bool has_fixed_bytes() const { return true; }

  /// Most entries of a message that offers Message::sparse for this layout; 0: its messages are not sparse.
  virtual index_t max_kept(const Layout& /*layout*/) const { return 0; }

  /// Makes the message of `round` from the source. After the call the source's memory holds what was not sent.
  virtual void produce(const Exec& exec, int round, const Source& source, State& state, const Context& context,
                       Message& message) const = 0;

  /// Takes the reduced message of a summable round; out and memory wait for finish().
  virtual void consume(const Exec&, int /*round*/, const Message&, State&, const Context&) const {}

  /// Summable methods: writes the estimate of the mean gradient to `out` and what is missing from it to the memory.
  /// When some rank flagged the step, raises the verdict's flag, with `out` unspecified and the memory holding a.
  virtual void finish(const Exec& exec, const Source& source, State& state, const Context& context,
                      const Span<float>& out, Verdict& verdict) const;

  /// Bytes methods: out += weight * decoded. When the bytes are not a payload of this method for this layout, throws
  /// Error, or where the host does not see them leaves that to the verdict, with `out` unspecified but nothing outside
  /// written. A flagged payload adds nothing and raises the verdict's flag.
  virtual void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                          const Span<float>& out, Verdict& verdict) const;

  /// After a skipped step: returns to the memory of `source` what the last step took out of it. `out` is what finish()
  /// wrote, where it was called. Default: bytes methods decode their own payload into the memory. A velocity that the
  /// step masked stays masked.
  virtual void give_back(const Exec& exec, const Source& source, State& state, const Message& message,
                         const Span<const float>& out) const;

  /// Whether resize() can be called, so that the method can code the kept values of another (value coders of hybrids).
  virtual bool can_resize() const { return false; }
  /// Makes a State, prepared for one segment, one of its first `count` elements, 0 .. what it was prepared for. Layout,
  /// lengths and messages are then as if it had been prepared for them. Allocates nothing.
  virtual void resize(const Exec& exec, State& state, index_t count) const;

  /// The header of this method's payloads.
  PayloadHeader header(index_t elements, index_t kept) const;

 private:
  Info m_info;
  ParameterValues m_options;
};

}  // namespace gradcomp
