#pragma once
// A sender turns the gradient of one bucket into messages and remembers what they do not contain. It owns the
// compressor's State and the memories of the feedback. It knows no other rank: reducers, servers and benches carry its
// messages.
#include <memory>
#include <vector>

#include "gradcomp/exchange/method_spec.hpp"
#include "gradcomp/exchange/stripes.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {

/// Bytes of the messages that one step hands to the exchange.
struct MessageBytes {
  index_t payload = 0, header = 0;
  MessageBytes& operator+=(const MessageBytes& other);
};
MessageBytes bytes_of(const Message& message);

class Sender {
 public:
  /// For a bucket of this layout, to which the granularity was already applied. The bucket is sent whole, or in stripes
  /// that cover it in order; each stripe is compressed as a bucket of its own. `faults` counts what is found wrong.
  Sender(const MethodSpec& method, const Layout& layout, const FaultCounts& faults);
  Sender(const MethodSpec& method, std::vector<Stripe> stripes, const FaultCounts& faults);
  Sender(Sender&&) = default;

  /// Starts a step. `gradient` is complete and outlives the step. It has as many elements as `mean`, in which the
  /// estimate of the mean will be written. The two may be one array if info().in_place.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context);

  /// From now on makes messages from this gradient and not from that of begin(). It has as many elements.
  void read_from(const Span<const float>& gradient) { m_step.source.gradient = gradient.data(); }
  /// Makes the message of `round` for one stripe.
  const Message& produce(const Exec& exec, int round, std::size_t stripe = 0);
  /// For summable messages: the reduction of the last message is at Message::result.
  void consume(const Exec& exec, int round);
  /// For summable methods, after all rounds: writes the estimate to mean().
  void finish(const Exec& exec);
  /// Call it when mean() is complete. A feedback that follows the mean reads it and replaces it by its own estimate.
  void follow_mean(const Exec& exec) { m_feedback.follow_mean(exec, m_step.mean); }

  /// The source of a step on `gradient`, without beginning this step: what the compressor would see.
  Source source_of(const Exec& exec, const Span<const float>& gradient, int ranks) const {
    return m_feedback.source(exec, gradient, ranks);
  }
  /// Empties the memories of the feedback.
  void forget(const Exec& exec);

  const Compressor& compressor() const { return *m_compressor; }
  int rounds() const { return m_compressor->rounds(); }
  const std::vector<Stripe>& stripes() const { return m_stripes; }
  index_t count() const { return m_count; }
  State& state(std::size_t stripe = 0) { return *m_states[stripe]; }
  const State& state(std::size_t stripe = 0) const { return *m_states[stripe]; }
  /// The message that produce() made last.
  const Message& message(std::size_t stripe = 0) const { return m_messages[stripe]; }
  /// The payload of message(stripe), which is a message of bytes.
  Span<const std::byte> payload(std::size_t stripe = 0) const;
  const Source& source() const { return m_step.source; }
  const Span<float>& mean() const { return m_step.mean; }
  const Context& context() const { return m_step.context; }
  const FaultCounts& faults() const { return m_step.faults; }
  /// Bytes of all messages since begin().
  const MessageBytes& bytes() const { return m_bytes; }

  Memories memories();
  index_t work_bytes() const;

 private:
  std::shared_ptr<const Compressor> m_compressor;
  std::vector<Stripe> m_stripes;
  index_t m_count = 0;
  Feedback m_feedback;
  std::vector<std::unique_ptr<State>> m_states;  ///< [stripes]
  std::vector<Message> m_messages;               ///< [stripes]
  Step m_step;
  MessageBytes m_bytes;
};

}  // namespace gradcomp
