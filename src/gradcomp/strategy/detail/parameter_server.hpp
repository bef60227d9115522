#pragma once
// One server: it holds a part of the parameters with the optimiser's memory of them, applies what workers push, and
// answers each push. It runs on its rank's own thread, whenever serve() is called.
//
// Together (synchronous): an update by the mean of all workers' gradients, added up in rank order, once all have come.
// Otherwise an update by each worker's gradient as it comes, with the W-th part of its rate, so that one step of all W
// workers goes about as far as a synchronous one; workers that are too far ahead of the slowest get their answers late.
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

/// How servers and workers go together.
struct ServerRule {
  bool together = true;
  index_t bound = WorkerClocks::unbounded;  ///< of WorkerClocks, where not together
  bool damped = false;                      ///< a gradient that is t updates late is applied with rate / max(1, t)
  bool coded = false;                       ///< answers are compressed changes of the parameters
};

class ParameterServer {
 public:
  /// Of the parameters `keys`; the pushes of a worker on its own rank come by take_own(). `tensors`: what the keys are
  /// to an optimiser.
  ParameterServer(const MethodSpec& method, const Stripe& keys, const Layout& tensors, const UpdateOptions& update,
                  Transport& transport, const ServerPlaces& places, const ServerRule& rule, std::uint64_t seed);

  /// The first step begins with these values of the keys.
  void start(const Exec& exec, const Span<const float>& parameters);
  /// Pushes are expected from now on, until every worker has said farewell.
  void open(const Exec& exec);
  /// Where the time of its work is noted from now on; null: nowhere.
  void note_in(Timeline* timeline) { m_timeline = timeline; }
  /// Takes what has come and answers; false: nothing had come. Throws Error for a broken push.
  bool serve(const Exec& exec);
  bool all_gone() const;
  /// Whether as many pushes have come as there are workers, since as many had come the last time.
  bool take_round();
  /// Waits for the answers' departure, after which they are counted and their rooms free.
  void flush();

  /// Where the own rank's worker writes its push, and reads its answer from once own_answered().
  const Vector<std::byte>& own_push() const { return m_inbox[m_own]; }
  void take_own(const Exec& exec) { arrived(exec, m_own); }
  bool own_answered() { return std::exchange(m_own_answered, false); }
  const Vector<std::byte>& own_answer() const { return m_answers.room(m_own); }

  const Stripe& keys() const { return m_keys; }
  Span<const float> parameters() const { return m_parameters; }

  /// Since the last call: how many updates had passed since each applied gradient's parameters were given out.
  std::vector<index_t> take_staleness() { return std::exchange(m_staleness, {}); }
  /// Since the last call: bytes of the answers that it made.
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
  index_t write_answer(const Exec& exec, std::size_t worker, bool skipped);
  void send_answer(const Exec& exec, std::size_t worker, index_t bytes);

  Stripe m_keys;
  ServerRule m_rule;
  std::size_t m_own;  ///< the worker on this rank; none has this number where there is none
  Receiver m_receiver;
  Updater m_updater;
  Vector<float> m_parameters, m_mean;
  Verdict m_verdict;
  WorkerClocks m_clocks;
  Answers m_answers;
  std::vector<Vector<std::byte>> m_inbox;  ///< [workers]
  std::vector<PushHeader> m_pushes;        ///< [workers] the last of each
  std::vector<std::uint8_t> m_waiting;     ///< [workers] for an answer
  std::vector<std::uint8_t> m_gone;        ///< [workers] said farewell
  std::vector<Completion> m_expected, m_sent;
  std::vector<index_t> m_staleness;
  index_t m_version = 0, m_arrived = 0;
  bool m_own_answered = false;
  Timeline* m_timeline = nullptr;
  Transport& m_transport;
};

}  // namespace gradcomp
