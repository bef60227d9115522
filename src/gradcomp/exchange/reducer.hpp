#pragma once
// The contract of a reducer: how the messages of one bucket travel, round by round, until `mean` holds the estimate of
// the mean gradient, with the same bits on every rank. To add a reducer, add a file to exchange/reducers/
// (docs/extend.md).
//
// A reduction drives it: launch(0), complete(0), .. launch(R-1), complete(R-1), then finish(). The calls that launch()
// names are carried between launch() and complete(), while other buckets launch theirs. All ranks make the calls in the
// same order. A reducer does not remember the round: every hook receives it.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/sender.hpp"

namespace gradcomp {

/// What a reducer is made of. The tags [first_tag, first_tag + tags_per_reducer) belong to it alone.
struct ReducerSetup {
  const ParameterValues& common;  ///< options of the method, reducer_parameters() among them
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

  /// Number of exchanges in one step, the same on every rank: the method's rounds, unless messages take several hops.
  virtual int rounds() const { return m_sender.rounds(); }
  /// The context under which this rank's messages are made.
  virtual Context adapted(const Context& context) const { return context; }

  /// Compresses, or merges what has arrived, and appends the calls of `round`. If this rank only waits, there are none.
  /// The buffers of the calls must live until complete().
  virtual void launch(const Exec& exec, int round, std::vector<Call>& calls) = 0;
  /// The calls of `round` have ended. `found` holds what each of them found; it is valid until the next launch().
  virtual void complete(const Exec& exec, int round, std::span<const Found> found) = 0;
  /// Writes the mean, m_sender.mean(). What was wrong is counted in m_sender.faults(), on every rank alike.
  virtual void finish(const Exec& exec) = 0;

  /// Memories of the reducer itself.
  virtual Memories memories() { return {}; }
  virtual index_t buffer_bytes() const { return 0; }
  /// Bytes of this step's messages that are not the sender's.
  virtual MessageBytes more_bytes() const { return {}; }

 protected:
  /// A payload that rank `from` made in this step, to be decoded with this weight.
  Received received(const Span<const std::byte>& bytes, int from, float weight) const {
    Context sender = m_sender.context();
    sender.rank = from;
    return {bytes, sender, weight, m_sender.faults()};
  }

  Sender& m_sender;
  int m_rank, m_ranks;
};

/// What reducers/<name>.cpp defines: `ReducerEntry gradcomp::reducers::<name>()`.
struct ReducerEntry {
  std::string name;
  std::string summary;                ///< one line
  std::vector<Parameter> parameters;  ///< named "reducer.<key>"
  /// Why it cannot carry the messages of a method, in one line; empty if it can.
  std::function<std::string(const Info& info)> refusal;
  std::function<std::unique_ptr<Reducer>(const ReducerSetup& setup)> make;
  /// Whether a bucket is sent in one stripe per rank, each to its owner.
  bool striped = false;
  /// Whether all its calls are messages between two ranks. Ranks may then be in different rounds of many buckets.
  bool in_any_order = false;
};

}  // namespace gradcomp
