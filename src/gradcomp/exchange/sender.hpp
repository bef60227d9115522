#pragma once
// A sender turns the gradient of one bucket into messages and remembers what they do not contain. It owns the
// compressor's State and the memories of the feedback. It knows no other rank: reducers, servers and benches carry its
// messages.
#include <memory>
#include <vector>

#include "gradcomp/core/verdict.hpp"
#include "gradcomp/exchange/detail/stripes.hpp"
#include "gradcomp/exchange/method_spec.hpp"
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
  /// that cover it in order; each stripe is compressed as a bucket of its own.
  Sender(const MethodSpec& method, const Layout& layout);
  Sender(const MethodSpec& method, std::vector<Stripe> stripes);
  Sender(Sender&&) = default;

  /// Starts a step. `gradient` is complete and outlives the step. It has as many elements as `mean`, in which the
  /// estimate of the mean will be written. The two may be one array if info().in_place.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context);

  /// From now on makes messages from this gradient and not from that of begin(). It has as many elements.
  void read_from(const Span<const float>& gradient) { m_source.gradient = gradient.data(); }
  /// Makes the message of `round` for one stripe.
  const Message& produce(const Exec& exec, int round, std::size_t stripe = 0);
  /// For summable messages: the reduction of the last message is at Message::result.
  void consume(const Exec& exec, int round);
  /// For summable methods, after all rounds: writes the estimate of the mean. Raises the verdict's flag if some rank
  /// did.
  void finish(const Exec& exec, const Span<float>& mean, Verdict& verdict);

  /// If the verdict's flag is not raised, the step counts. A feedback that follows the mean then reads it and replaces
  /// it by its own estimate.
  void settle(const Exec& exec, const Span<float>& mean, const Verdict& verdict) {
    m_feedback.settle(exec, mean, verdict.flags());
  }
  /// The step is skipped: gives back to the memories what it took. `mean` is what finish() or the reducer left.
  void take_back(const Exec& exec, const Span<float>& mean);

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
  const Source& source() const { return m_source; }
  const Context& context() const { return m_context; }
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
  Source m_source;
  Context m_context;
  MessageBytes m_bytes;
};

}  // namespace gradcomp
