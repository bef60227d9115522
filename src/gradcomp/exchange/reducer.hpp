#pragma once
// The contract of a reducer: how the messages of one bucket travel, round by round, until `mean` holds the estimate of
// the mean gradient, with the same bits on every rank. Adding one is adding a file pair to exchange/reducers/
// (docs/adding-a-reducer.md).
//
// A reduction drives it: launch(0) complete(0) .. launch(R-1) complete(R-1), then finish. Between launch and complete
// the calls that launch() named are carried, while other buckets launch theirs. All ranks make the calls in the same
// order. A reducer does not remember the round: every hook receives it.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/sender.hpp"

namespace gradcomp {

/// What a reducer is made of. The tags [first_tag, first_tag + tags_per_reducer) are its own.
struct ReducerSetup {
  const ParameterValues& common;  ///< of the method: reducer_parameters() are among them
  Sender& sender;                 ///< outlives the reducer
  int rank = 0, ranks = 1;
  int first_tag = 0;
  int ranks_per_node = 0;  ///< Transport::ranks_per_node()
};
inline constexpr int tags_per_reducer = 64;

class Reducer {
 public:
  explicit Reducer(const ReducerSetup& setup) : m_sender(setup.sender), m_rank(setup.rank), m_ranks(setup.ranks) {}
  virtual ~Reducer() = default;
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Exchanges of one step, the same number on every rank; the method's, unless messages take several hops.
  virtual int rounds() const { return m_sender.rounds(); }
  /// The context under which this rank's messages are made.
  virtual Context adapted(const Context& context) const { return context; }

  /// Compresses, or merges what arrived, and appends the calls of `round`; appends none if this rank only waits.
  /// Buffers must live until complete().
  virtual void launch(const Exec& exec, int round, std::vector<Call>& calls) = 0;
  /// The calls of `round` have ended; `found` holds what each found, until the next launch().
  virtual void complete(const Exec& exec, int round, std::span<const Found> found) = 0;
  /// Writes the mean; raises the verdict's flag, with `mean` unspecified, when some rank flagged the step. Every rank
  /// gets the same answer.
  virtual void finish(const Exec& exec, const Span<float>& mean, Verdict& verdict) = 0;
  /// The step is skipped: memories get back what it took. `mean` as finish() left it.
  virtual void take_back(const Exec& exec, const Span<float>& mean) { m_sender.take_back(exec, mean); }

  /// Memories of the reducer's own.
  virtual Memories memories() { return {}; }
  virtual index_t buffer_bytes() const { return 0; }
  /// Of this step's messages that are not the sender's.
  virtual MessageBytes more_bytes() const { return {}; }

 protected:
  Sender& m_sender;
  int m_rank, m_ranks;
};

/// What reducers/<name>.cpp defines: `ReducerEntry gradcomp::reducers::<name>()`.
struct ReducerEntry {
  std::string name;
  std::string summary;                ///< one line
  std::vector<Parameter> parameters;  ///< named "reducer.<key>"
  /// Why it cannot carry the messages of a method, one line; empty: it can.
  std::function<std::string(const Info& info)> refusal;
  std::function<std::unique_ptr<Reducer>(const ReducerSetup& setup)> make;
  /// Whether a bucket is sent in one stripe per rank, each to its owner.
  bool striped = false;
  /// Whether all its calls are messages between two ranks, so that ranks may be in different rounds of many buckets.
  bool in_any_order = false;
};

}  // namespace gradcomp
