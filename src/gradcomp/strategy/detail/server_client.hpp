#pragma once
// A worker as servers see it: it compresses its gradient into a message for each server, pushes them, and takes
// answers.
#include <memory>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/strategy/detail/parameter_server.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp {

class ServerClient {
 public:
  /// `keys`: one part of the model per server. `own`: the server on this rank, which outlives the client; null if there
  /// is none. `coded`: whether answers are compressed changes.
  ServerClient(const MethodSpec& method, std::vector<Stripe> keys, bool coded, Transport& transport,
               const ServerPlaces& places, ParameterServer* own, const Faults& faults, std::uint64_t seed);

  /// Compresses the step's gradient and pushes it; pushes empty messages if it is not finite, or if diverged().
  /// `scratch` has as many elements as the model.
  void push(const Exec& exec, const StepContext& step, const Span<float>& scratch);
  /// Tells all servers that no push follows.
  void say_farewell(const Exec& exec);

  /// Takes the answers that have arrived into step.parameters. Returns false if none had.
  bool take_answers(const Exec& exec, const StepContext& step);
  bool all_answered() const;
  /// Whether this worker's gradient was not finite, or an answer said so of another one.
  bool diverged() const { return m_diverged; }
  /// Waits until all pushes have ended, so that their bytes are counted. Call it when all have been answered.
  void settle();

  const Sender& sender() const { return m_sender; }
  /// Bytes of the last step's pushes.
  MessageBytes bytes() const;
  Memories memories();
  index_t work_bytes() const;

 private:
  const std::vector<Stripe>& keys() const { return m_sender.stripes(); }
  bool is_own(std::size_t server) const { return m_own != nullptr && m_places.rank_of(server) == m_transport.rank(); }

  bool compress(const Exec& exec, const StepContext& step, const Span<float>& scratch);
  void send(const Exec& exec, std::size_t server, PushHeader header);
  void take_answer(const Exec& exec, std::size_t server, const Span<float>& parameters);

  bool m_dense;
  std::uint64_t m_seed;
  Sender m_sender;
  Transport& m_transport;
  ServerPlaces m_places;
  ParameterServer* m_own;
  std::vector<Vector<std::byte>> m_push, m_answer;  ///< [servers]
  std::vector<Receiver> m_receivers;                ///< [servers] for coded answers
  std::vector<index_t> m_versions;                  ///< [servers] version of the parameters that this worker has
  std::vector<std::uint8_t> m_answered;             ///< [servers] whether this step was answered
  std::vector<Completion> m_pushed, m_coming;       ///< [servers]
  bool m_diverged = false;
};

}  // namespace gradcomp
