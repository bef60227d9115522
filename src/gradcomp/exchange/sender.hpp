#pragma once
// A sender turns one bucket's gradient into messages and remembers what they do not contain. It owns the compressor's
// State and the memories of the feedback. It knows no other rank: reducers, servers and benches carry its messages.
#include <memory>
#include <vector>

#include "gradcomp/core/verdict.hpp"
#include "gradcomp/exchange/detail/stripes.hpp"
#include "gradcomp/exchange/method_spec.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {

/// Bytes of the messages that one step handed to the exchange.
struct MessageBytes {
  index_t payload = 0, header = 0;
  MessageBytes& operator+=(const MessageBytes& other);
};
MessageBytes bytes_of(const Message& message);

class Sender {
 public:
  /// For a bucket of this layout (granularity already applied), which is sent whole, or in stripes that cover it in
  /// order: each is then compressed as a bucket of its own.
  Sender(const MethodSpec& method, const Layout& layout);
  Sender(const MethodSpec& method, std::vector<Stripe> stripes);
  Sender(Sender&&) = default;

  /// A new step. `gradient` is complete, outlives the step, and has as many elements as `mean`, where the estimate of
  /// the mean will be written; the two may be one array where info().in_place.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context);

  /// From now on, messages are made from this gradient instead of that of begin(); it has as many elements.
  void read_from(const Span<const float>& gradient) { m_source.gradient = gradient.data(); }
  /// Makes the message of `round`, of one stripe.
  const Message& produce(const Exec& exec, int round, std::size_t stripe = 0);
  /// Summable messages: the reduction of the last message is at Message::result.
  void consume(const Exec& exec, int round);
  /// Summable methods, after all rounds: the estimate of the mean; raises the verdict's flag when some rank did.
  void finish(const Exec& exec, const Span<float>& mean, Verdict& verdict);

  /// If the verdict's flag is not raised, the step counts: a feedback that follows the mean reads it, and replaces it
  /// by its own estimate.
  void settle(const Exec& exec, const Span<float>& mean, const Verdict& verdict) {
    m_feedback.settle(exec, mean, verdict.flags());
  }
  /// The step is skipped: the memories get back what it took. `mean` as finish() or the reducer left it.
  void take_back(const Exec& exec, const Span<float>& mean);

  /// The source of a step on `gradient`, without beginning it: what the compressor will see.
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
  /// The last that produce() made.
  const Message& message(std::size_t stripe = 0) const { return m_messages[stripe]; }
  Span<const std::byte> payload(std::size_t stripe = 0) const;
  const Source& source() const { return m_source; }
  const Context& context() const { return m_context; }
  /// Of all messages since begin().
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
