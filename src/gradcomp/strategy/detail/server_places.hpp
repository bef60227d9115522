#pragma once
// Which ranks train and which serve.
#include <cstddef>

namespace gradcomp {

struct ServerPlaces {
  int workers = 1;       ///< ranks 0 .. workers - 1 train
  int servers = 1;       ///< number of ranks, from first_server on, that each hold a part of the parameters
  int first_server = 0;  ///< 0: servers are workers too; workers: they only serve

  int rank_of(std::size_t server) const { return first_server + static_cast<int>(server); }
  /// The number of the server on `rank`. If there is none, it is negative or at least `servers`.
  int server_on(int rank) const { return rank - first_server; }
  bool serves(int rank) const { return server_on(rank) >= 0 && server_on(rank) < servers; }
  bool trains(int rank) const { return rank < workers; }
};

}  // namespace gradcomp
