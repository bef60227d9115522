#pragma once
// What workers and servers say to each other. A message is a header of block_alignment bytes and what follows it.
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
    flagged,  ///< it is not finite: the message is empty, and still counts as a step
    farewell  ///< no step: the worker sends no more before the next drain()
  };
  Kind kind = Kind::gradient;
  std::int32_t dtype = in_bytes;  ///< of dense values
  index_t bytes = 0;              ///< that follow
  index_t version = 0;            ///< of the parameters that the gradient is of
  double rate = 0;                ///< the worker's learning rate
  static constexpr std::int32_t in_bytes = -1;
};

/// A server's answer: the parameters, or their change since the last answer, compressed.
struct AnswerHeader {
  std::int32_t dtype = PushHeader::in_bytes;  ///< f32 of parameters as they are
  index_t bytes = 0;                          ///< that follow
  index_t version = 0;                        ///< updates that these parameters have had
  std::int64_t skipped = 0;
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
  if (!device_is_host) wait(exec, "gradcomp::strategy::put_header");  // `bytes` ends here
}
/// Waits for exec.
template <class Header>
Header get_header(const Exec& exec, const Vector<std::byte>& room) {
  std::array<std::byte, sizeof(Header)> bytes;
  read_back(exec, Span<const std::byte>(room.data(), sizeof(Header)), bytes.data(), "gradcomp::strategy::get_header");
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Why servers cannot take a method's messages one by one; empty: they can.
std::string refuses_push(const MethodSpec& method);

/// Most bytes of a push of these keys.
index_t push_capacity(const Compressor& compressor, const Layout& keys);

/// out += weight * the `values` of the type that is named in a push of a dense method.
void add_dense(const Exec& exec, DType type, const Span<const std::byte>& values, float weight, const Span<float>& out);

}  // namespace gradcomp
