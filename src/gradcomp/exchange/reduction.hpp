#pragma once
// A reduction: one bucket under one method, from gradients to the estimate of their mean. It owns all that lives
// between steps: the sender, with the compressor's State and the feedback, and the reducer. Only the constructor
// allocates.
//
//   begin; launch, complete, .. until done; finish
//
// arrived() tells whether complete() would not wait. All ranks make the calls in the same order, unless in_any_order().
#include <memory>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/exchange/sender.hpp"
#include "gradcomp/measure/timeline.hpp"

namespace gradcomp {

class Reduction {
 public:
  /// `bucket`: its tensors, to which this applies the method's granularity. `transport` and `faults` outlive the
  /// reduction. Buckets of one transport have different `number`s. Throws Error if the reducer cannot carry the
  /// method's messages.
  Reduction(const MethodSpec& method, const Layout& bucket, Transport& transport, const Faults& faults, int number = 0);

  /// Number of exchanges in one step.
  int rounds() const { return m_reducer->rounds(); }

  /// Starts a step on the complete `gradient`; finish() will write `mean` (Sender::begin()). `timeline` may be null.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context,
             Timeline* timeline);
  /// Compresses (in later rounds: merges), and starts the exchange of the next round.
  void launch(const Exec& exec);
  /// Whether the exchange of the launched round has ended. Never blocks.
  bool arrived() { return m_calls.empty() || m_under_way.test(); }
  /// Waits for the exchange of the launched round and processes what was received.
  void complete(const Exec& exec);
  /// Whether all rounds are complete.
  bool done() const { return m_round == rounds(); }
  /// Writes the mean.
  void finish(const Exec& exec);

  /// From now on records times in this timeline; null: records none.
  void note_in(Timeline* timeline) { m_timeline = timeline; }
  /// Whether ranks may launch its later rounds in different orders relative to other reductions.
  bool in_any_order() const { return m_in_any_order; }

  Sender& sender() { return m_sender; }
  const Sender& sender() const { return m_sender; }
  MessageBytes bytes() const;
  Memories memories();
  index_t work_bytes() const { return m_sender.work_bytes() + m_reducer->buffer_bytes(); }

 private:
  void note_exchange();

  Transport& m_transport;
  Sender m_sender;
  std::unique_ptr<Reducer> m_reducer;
  bool m_in_any_order;
  std::vector<Call> m_calls;  ///< of the launched round
  Completion m_under_way;
  int m_round = 0;  ///< the launched one, or the next
  Timeline* m_timeline = nullptr;
};

/// All rounds of a step that was begun, and finish().
void reduce(Reduction& reduction, const Exec& exec);

/// The tensors of a bucket as the method sees them: all of them, or one vector (granularity=bucket).
Layout seen_by(const MethodSpec& method, const Layout& bucket);

}  // namespace gradcomp
