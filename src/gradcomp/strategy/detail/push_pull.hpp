#pragma once
// The messages between workers and servers. A message is a header of block_alignment bytes, followed by its body.
#include <array>
#include <cstring>
#include <string>
#include <type_traits>

#include "gradcomp/comm/call.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/exchange/sender.hpp"

namespace gradcomp {

/// A worker's gradient of one step, for one server.
struct PushHeader {
  enum class Kind : std::uint32_t {
    gradient,
    diverged,  ///< a gradient was not finite: the message is empty, and still counts as a step
    farewell   ///< no step: the worker sends nothing more before the next drain()
  };
  Kind kind = Kind::gradient;
  std::int32_t dtype = in_bytes;  ///< type of dense values; in_bytes: the body is a payload
  index_t bytes = 0;              ///< length of the body
  index_t version = 0;            ///< of the parameters for which the gradient was computed
  std::int64_t step = 0;          ///< the worker's, which is a key of random numbers
  double rate = 0;                ///< the worker's learning rate
  static constexpr std::int32_t in_bytes = -1;
};

/// A server's answer: the parameters, or their compressed change since the last answer.
struct AnswerHeader {
  std::int32_t dtype = PushHeader::in_bytes;  ///< f32: the body is the parameters; in_bytes: a payload
  std::int32_t stream = 0;                    ///< with the version, the key of random numbers
  index_t bytes = 0;                          ///< length of the body
  index_t version = 0;                        ///< number of updates of these parameters
  std::int64_t diverged = 0;                  ///< not 0: some worker's gradient was not finite; there is no body
};

inline constexpr int push_tag = 0, answer_tag = 1;

/// Room for a header and at most `capacity` bytes.
inline Vector<std::byte> message_room(const std::string& label, index_t capacity) {
  return Vector<std::byte>(label, static_cast<std::size_t>(block_alignment + aligned(capacity)));
}
inline Span<std::byte> body_of(const Vector<std::byte>& room, index_t bytes) {
  return subspan<std::byte>(room, block_alignment, bytes);
}

template <class Header>
void put_header(const Exec& exec, const Vector<std::byte>& room, const Header& header) {
  static_assert(sizeof(Header) <= block_alignment && std::is_trivially_copyable_v<Header>);
  std::array<std::byte, sizeof(Header)> bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  Kokkos::deep_copy(exec, subspan<std::byte>(room, 0, sizeof header),
                    HostSpan<const std::byte>(bytes.data(), bytes.size()));
  if (!device_is_host) wait(exec, "gradcomp::strategy::put_header");  // `bytes` is a local variable
}
/// Reads the header of a message. Waits for exec.
template <class Header>
Header get_header(const Exec& exec, const Vector<std::byte>& room) {
  std::array<std::byte, sizeof(Header)> bytes;
  read_back(exec, Span<const std::byte>(room.data(), sizeof(Header)), bytes.data(), "gradcomp::strategy::get_header");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Why servers cannot take a method's messages one by one; empty if they can.
std::string refuses_push(const MethodSpec& method);

/// Largest number of bytes of a push of these keys.
index_t push_capacity(const Compressor& compressor, const Layout& keys);

/// out += weight * `values`, which have this type, the one that the push of a dense method names. Throws Error for
/// another type or number of values.
void add_dense(const Exec& exec, DType type, const Span<const std::byte>& values, float weight, const Span<float>& out);

}  // namespace gradcomp
