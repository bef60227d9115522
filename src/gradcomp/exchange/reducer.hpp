#pragma once
// The contract of a reducer: how the messages of one bucket travel, round by round, until `out` holds the estimate of
// the mean gradient, with the same bits on every rank.
//
// A schedule drives it:  begin, then launch(0) complete(0) .. launch(R-1) complete(R-1), then finish.
// Between launch and complete other buckets may launch: with a queued communicator their exchanges overlap with the
// computation. All ranks must make the calls in the same order.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/communicator.hpp"
#include "gradcomp/core/compressor.hpp"
#include "gradcomp/measure/timeline.hpp"

namespace gradcomp {

/// Bytes of the messages that one step handed to the exchange.
struct MessageBytes {
  index_t payload = 0, header = 0;
};

class Reducer {
 public:
  /// Prepares the compressor's state for `layout`; compressor and comm must outlive the reducer.
  Reducer(const Compressor& compressor, const Layout& layout, Communicator& comm);
  virtual ~Reducer() = default;
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Exchanges of one step, the same number on every rank; the compressor's, unless messages take several hops.
  virtual int rounds() const { return m_compressor.rounds(); }
  State& state() { return *m_state; }
  const MessageBytes& bytes() const { return m_bytes; }  ///< of the step since begin()
  virtual index_t buffer_bytes() const { return 0; }     ///< of the reducer itself, for the report of memory
  /// What the compressor remembers, and memories of the reducer's own: checkpointed, and reported as state bytes.
  virtual std::vector<StateView> persistent() { return m_state->persistent(); }

  /// A new step. `timeline` may be null.
  void begin(const Source& source, const Context& context, Timeline* timeline);
  /// Compresses (later rounds of messages with several hops: merges), and starts the exchange of `round`.
  void launch(const Exec& exec, int round);
  /// Waits for the exchange of `round` and takes its result.
  void complete(const Exec& exec, int round);
  /// Writes the mean. False, with `out` unspecified, when some rank flagged the step; every rank gets the same answer.
  bool finish(const Exec& exec, const Span<float>& out);
  /// After finish(), when the step is skipped: the memory gets back what the step took. `out` as finish() left it.
  virtual void give_back(const Exec& exec, const Span<float>& out);

 protected:
  /// Fills m_message for `round`.
  virtual void produce(const Exec& exec, int round);
  /// Starts the exchange of m_message.
  virtual RequestPtr exchange(const Exec& exec, const Message& message) = 0;
  /// Bytes of what the running round hands over: those of m_message.
  virtual MessageBytes handed_over() const;
  virtual void consume(const Exec&, int /*round*/, const Message&) {}
  virtual bool decompress(const Exec& exec, const Span<float>& out) = 0;

  const Compressor& m_compressor;
  Communicator& m_comm;
  std::unique_ptr<State> m_state;
  Source m_source;
  Context m_context;
  Message m_message;

 private:
  RequestPtr m_request;
  MessageBytes m_bytes;
  Timeline* m_timeline = nullptr;
};

/// The reducer that `common` names, with its options (reducer_parameters()); throws Error that says why when it cannot
/// carry this method's messages.
std::unique_ptr<Reducer> make_reducer(const Options& common, const Compressor& compressor, const Layout& layout,
                                      Communicator& comm);

/// Options of the reducers, shared by all methods: those that `info` allows, its default first, and their sub-options.
std::vector<Parameter> reducer_parameters(const Info& info);

std::vector<std::string> reducer_names();

}  // namespace gradcomp
