#pragma once
// One server: it holds a part of the parameters and the optimiser's memories of it, applies what workers push, and
// answers each push. It runs on its rank's own thread, whenever serve() is called.
//
// Together (synchronous): it updates by the mean of all workers' gradients, added in rank order, once all have arrived.
// Otherwise: it updates by each worker's gradient when it arrives, with 1 / W of its rate, so that one step of all W
// workers moves the parameters about as far as a synchronous one. Workers that are too far ahead of the slowest get
// their answers late.
//
// Once a worker's push says that its gradient was not finite, the server updates nothing more, and answers every push
// at once with this news.
#include <memory>
#include <utility>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/measure/timeline.hpp"
#include "gradcomp/strategy/detail/answers.hpp"
#include "gradcomp/strategy/detail/push_pull.hpp"
#include "gradcomp/strategy/detail/server_places.hpp"
#include "gradcomp/strategy/detail/worker_clocks.hpp"
#include "gradcomp/strategy/updater.hpp"

namespace gradcomp {

/// How servers and workers cooperate.
struct ServerRule {
  bool together = true;
  index_t bound = WorkerClocks::unbounded;  ///< as in WorkerClocks; only if not together
  /// whether a gradient that is t updates late is applied with rate / max(1, t)
  bool damped = false;
  bool coded = false;  ///< whether answers are compressed changes of the parameters
};

class ParameterServer {
 public:
  /// A server of the parameters `keys`. The worker on its own rank pushes by take_own(). `tensors`: the same parameters
  /// as the optimiser sees them.
  ParameterServer(const MethodSpec& method, const Stripe& keys, const Layout& tensors, const UpdateOptions& update,
                  Transport& transport, const ServerPlaces& places, const ServerRule& rule, const Faults& faults,
                  std::uint64_t seed);

  /// Sets the values of the keys before the first step.
  void start(const Exec& exec, const Span<const float>& parameters);
  /// From now on, expects pushes until every worker has said farewell.
  void open(const Exec& exec);
  /// From now on records the time of its work in this timeline; null: records nothing.
  void note_in(Timeline* timeline) { m_timeline = timeline; }
  /// Processes the pushes that have arrived and answers. Returns false if none had. Throws Error for a broken push.
  bool serve(const Exec& exec);
  /// Whether every worker has said farewell.
  bool all_gone() const;
  /// Whether as many pushes as there are workers have arrived since this last returned true.
  bool take_round();
  /// Waits until all answers have left, so that their bytes are counted and their rooms can be used again.
  void flush();

  /// The worker on this rank writes its push here. Once own_answered() returns true, it reads its answer from
  /// own_answer().
  const Vector<std::byte>& own_push() const { return m_inbox[m_own]; }
  void take_own(const Exec& exec) { arrived(exec, m_own); }
  bool own_answered() { return std::exchange(m_own_answered, false); }
  const Vector<std::byte>& own_answer() const { return m_answers.room(m_own); }

  /// Whether some worker's gradient was not finite.
  bool diverged() const { return m_diverged; }

  const Stripe& keys() const { return m_keys; }
  Span<const float> parameters() const { return m_parameters; }

  /// For each gradient that was applied since the last call: the number of updates since its parameters were given out.
  std::vector<index_t> take_staleness() { return std::exchange(m_staleness, {}); }
  /// Bytes of the answers that were made since the last call.
  MessageBytes take_bytes() { return m_answers.take_bytes(); }

  Memories memories();
  index_t work_bytes() const;

 private:
  std::size_t workers() const { return m_inbox.size(); }
  void expect(const Exec& exec, std::size_t worker);
  void arrived(const Exec& exec, std::size_t worker);
  void update_together(const Exec& exec);
  void update_by(const Exec& exec, std::size_t worker);
  void decode(const Exec& exec, std::size_t worker, float weight);
  void apply(const Exec& exec, double rate);
  void answer_those_who_may_go(const Exec& exec);
  index_t write_answer(const Exec& exec, std::size_t worker);
  void send_answer(const Exec& exec, std::size_t worker, index_t bytes);

  Stripe m_keys;
  ServerRule m_rule;
  std::size_t m_own;  ///< number of the worker on this rank; if there is none, no worker has this number
  std::uint64_t m_seed;
  Receiver m_receiver;
  Updater m_updater;
  Vector<float> m_parameters, m_mean;
  FaultCounts m_faults;
  WorkerClocks m_clocks;
  Answers m_answers;
  std::vector<Vector<std::byte>> m_inbox;  ///< [workers]
  std::vector<PushHeader> m_pushes;        ///< [workers] header of the last push of each
  std::vector<std::uint8_t> m_waiting;     ///< [workers] wait for an answer
  std::vector<std::uint8_t> m_gone;        ///< [workers] have said farewell
  std::vector<Completion> m_expected, m_sent;
  std::vector<index_t> m_staleness;
  index_t m_version = 0, m_arrived = 0;
  bool m_own_answered = false, m_diverged = false;
  Timeline* m_timeline = nullptr;
  Transport& m_transport;
};

}  // namespace gradcomp
