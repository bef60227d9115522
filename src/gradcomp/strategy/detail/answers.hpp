#pragma once
// What a server answers: its parameters as they are, or their change since what the worker holds, compressed by the
// method. For changes, the server keeps a mirror of what the worker holds. The next change then contains what this one
// lost, which is a feedback without a further memory (differences as in SDP4Bit, Jia et al., NeurIPS 2024).
#include "gradcomp/exchange/receiver.hpp"
#include "gradcomp/strategy/detail/push_pull.hpp"

namespace gradcomp {

class Answers {
 public:
  /// `keys`: the part of the server. `coded`: whether answers are compressed changes. `shared`: whether all workers get
  /// the same answers. `server`: the server's number. `workers`: the number of workers.
  Answers(const MethodSpec& method, const Stripe& keys, bool coded, bool shared, int server, int workers,
          std::uint64_t seed);

  /// Sets the parameters that all workers hold.
  void start(const Exec& exec, const Span<const float>& parameters);

  /// Writes an answer for `worker` to its room and returns the length in bytes.
  index_t write(const Exec& exec, std::size_t worker, const Span<const float>& parameters, AnswerHeader header);

  const Vector<std::byte>& room(std::size_t worker) const { return channel(worker).room; }
  bool shared() const { return m_shared; }
  /// Bytes of the answers since the last call.
  MessageBytes take_bytes() { return std::exchange(m_bytes, {}); }

  Memories memories();
  index_t work_bytes() const;

 private:
  /// The answers to one worker, or to all.
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
  Vector<float> m_change;  ///< the change that is compressed
  MessageBytes m_bytes;
};

}  // namespace gradcomp
