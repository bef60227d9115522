#pragma once
// A worker as servers see it: it compresses its gradient, a message for each server, pushes them, and takes answers.
#include <memory>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/strategy/detail/parameter_server.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp {

class ServerClient {
 public:
  /// `keys`: one part of the model per server. `own`: the server of this rank, which outlives the client; null where
  /// there is none. `coded`: whether answers are.
  ServerClient(const MethodSpec& method, std::vector<Stripe> keys, bool coded, Transport& transport,
               const ServerPlaces& places, ParameterServer* own, std::uint64_t seed);

  /// Compresses the step's gradient and pushes it: an empty message where it is not finite. `scratch`: as many elements
  /// as the model.
  void push(const Exec& exec, const StepContext& step, const Span<float>& scratch);
  /// No push follows.
  void say_farewell(const Exec& exec);

  /// Takes the answers that have come into step.parameters; false: none had.
  bool take_answers(const Exec& exec, const StepContext& step);
  bool all_answered() const;
  /// After all answers, when a server left the step out: the memories get back what it took.
  bool take_back_skipped(const Exec& exec, const Span<float>& scratch);
  /// Waits until all pushes have been seen to end, so that they are counted. They have been answered.
  void settle();

  const Sender& sender() const { return m_sender; }
  /// Of the last step's pushes.
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
  std::vector<Receiver> m_receivers;                ///< [servers] of coded answers
  std::vector<index_t> m_versions;                  ///< [servers] of the parameters that this worker has
  std::vector<std::uint8_t> m_answered;             ///< [servers] in this step
  std::vector<Completion> m_pushed, m_coming;       ///< [servers]
  Verdict m_verdict;
  bool m_skipped = false;  ///< some server left this step out
};

}  // namespace gradcomp
