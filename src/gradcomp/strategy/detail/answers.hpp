#pragma once
// What a server answers: its parameters as they are, or the change of what the worker holds, compressed by the method.
// Of the latter the server keeps a mirror: the next change contains what this one lost, which is a feedback without a
// further memory (the differences of SDP4Bit, Jia et al., NeurIPS 2024).
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/strategy/detail/push_pull.hpp"

namespace gradcomp {

class Answers {
 public:
  /// For `keys`; `shared`: all workers get the same answers. `server`: its number, `workers`: how many there are.
  Answers(const MethodSpec& method, const Stripe& keys, bool coded, bool shared, int server, int workers,
          std::uint64_t seed);

  /// All workers hold these parameters.
  void start(const Exec& exec, const Span<const float>& parameters);

  /// Writes an answer to `worker` into its room and returns its length. `step`: key of random numbers.
  index_t write(const Exec& exec, std::size_t worker, const Span<const float>& parameters, AnswerHeader header,
                std::int64_t step);

  const Vector<std::byte>& room(std::size_t worker) const { return channel(worker).room; }
  bool shared() const { return m_shared; }
  MessageBytes take_bytes() { return std::exchange(m_bytes, {}); }

  Memories memories();
  index_t work_bytes() const;

 private:
  /// To one worker, or to all.
  struct Channel {
    Vector<std::byte> room;
    Vector<float> mirror;  ///< what the worker holds
    std::unique_ptr<State> state;
  };
  const Channel& channel(std::size_t worker) const { return m_channels[m_shared ? 0 : worker]; }
  Span<const std::byte> encode(const Exec& exec, Channel& channel, const Span<const float>& parameters,
                               const Context& context);

  std::shared_ptr<const Compressor> m_compressor;
  bool m_shared;
  int m_server, m_workers;
  std::uint64_t m_seed;
  std::vector<Channel> m_channels;
  Vector<float> m_change;  ///< where changes are compressed
  Verdict m_verdict;
  MessageBytes m_bytes;
};

}  // namespace gradcomp
