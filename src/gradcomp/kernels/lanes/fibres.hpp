#pragma once
// Runs the device branches of kernels on a host: every thread of a team is a fibre (only in the build `lanes`,
// docs/testing.md).
//
// A fibre runs until it must wait for others: at a shuffle, a ballot, sync() or barrier(). Which of the fibres that can
// go on runs next is drawn at random, so a lane that reads what another one should have written before, without a
// sync() between them, reads the wrong value for nearly every seed. Teams come in random order, up to three at once.
// AddressSanitizer knows the stacks of the fibres. All runs on the calling thread, and what one fibre wrote every other
// one sees: a missing fence, or a sync() that is missing beside a shuffle, is not found.
//
// A device may go wrong in two ways that no sanitizer sees. Both throw a Fault: a lane returns before a place where
// others of its warp or team wait for it, or lanes that wait for each other wait at different operations.
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "gradcomp/core/types.hpp"

namespace gradcomp::kernels::fibres {

/// One line: the kernel, what is wrong, which lanes, and the seed.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The seed of the calling thread's order: the number in GRADCOMP_LANES_SEED, or 1.
std::uint64_t first_seed();
/// Begins the order of this seed on the calling thread.
void seed(std::uint64_t value);

// What a device has as instructions. All lanes of a warp must call the same ones in the same order.

/// The calling thread within its team; 32 in a row are a warp.
int thread();
void sync();
/// For all threads of the team.
void barrier();
std::uint32_t ballot(bool x);
/// The x of lane `from` mod 32.
std::uint64_t shuffle_word(std::uint64_t x, int from);

template <class T>
T shuffle(T x, int from) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t word = 0;
  std::memcpy(&word, &x, sizeof(T));
  word = shuffle_word(word, from);
  std::memcpy(&x, &word, sizeof(T));
  return x;
}

/// What a kernel knows of its team, under the names of Kokkos.
class Team {
 public:
  Team(int rank, int size, std::byte* scratch, std::size_t bytes)
      : m_rank(rank), m_size(size), m_scratch(scratch, bytes) {}

  int league_rank() const { return m_rank; }
  int team_rank() const { return thread(); }
  int team_size() const { return m_size; }
  void team_barrier() const { barrier(); }
  const Exec::scratch_memory_space& team_scratch(int) const { return m_scratch; }

 private:
  int m_rank, m_size;
  Exec::scratch_memory_space m_scratch;
};

/// body(team) on `threads` fibres for each of `teams` teams. Scratch memory is full of garbage.
void launch(const std::string& label, const Exec& exec, index_t teams, int threads, std::size_t scratch_bytes,
            const std::function<void(const Team&)>& body);

}  // namespace gradcomp::kernels::fibres
