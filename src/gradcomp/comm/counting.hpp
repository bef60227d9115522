#pragma once
// A communicator that counts what its calls move, by the algorithm's true volume (volume.hpp).
#include <array>
#include <memory>
#include <string>

#include "gradcomp/comm/communicator.hpp"

namespace gradcomp {

/// Bytes and calls of one rank.
struct Traffic {
  index_t calls = 0, sent = 0, received = 0;
};

enum class Operation : std::uint8_t {
  allreduce,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter,
  broadcast,
  send,
  receive,
  barrier
};
inline constexpr std::size_t operation_count = 10;
const char* to_string(Operation operation);

/// Counts are added when a call is made, those of calls that find out sizes when they have been waited for. send_sized
/// and receive_sized count as send and receive. Read them on the thread that
/// waits. split() gives a communicator with counts of its own.
class CountingCommunicator : public Communicator {
 public:
  virtual const Traffic& of(Operation operation) const = 0;
  Traffic total() const;
};

std::unique_ptr<CountingCommunicator> make_counting(std::unique_ptr<Communicator> inner);

}  // namespace gradcomp
