#pragma once
// The bytes that a call moves with the algorithm that is optimal in bandwidth: counting reports them, and throttled
// charges them if fewest_steps() is not faster. P ranks; b = bytes of the buffer of one rank (of one block if the call
// has blocks); a link is full duplex.
//
//   operation       algorithm                      sent by a rank              steps
//   allreduce       ring                           2 (P-1)/P b                 2 (P-1)
//   allgather       ring                           (P-1) b                     P-1
//   allgatherv      ring, after an allgather of    all blocks but the right    2 (P-1)
//                   the sizes (8 bytes each)       neighbour's, + 8 (P-1)
//   alltoall        pairwise                       (P-1) b                     P-1
//   alltoallv       pairwise, after an allgather   all parts but its own,      2 (P-1)
//                   of the sizes (8 P bytes each)  + 8 P (P-1)
//   reduce_scatter  ring                           (P-1) b                     P-1
//   broadcast       pipelined chain from the root  b, the last rank 0          P-1
//   send, receive                                  b                           1
//   barrier         dissemination                  0                           ceil(log2 P)
//
// MPI libraries choose other algorithms for small messages (fewest_steps() below); counting keeps to this table.
#include <vector>

#include "gradcomp/comm/call.hpp"

namespace gradcomp::comm {

struct Volume {
  index_t sent = 0, received = 0;  ///< of this rank
  index_t busiest = 0;             ///< most bytes in one direction on any rank: they determine the time on equal links
  int steps = 0;                   ///< number of consecutive messages, which multiplies the latency
};

/// The volume of a call that has ended, on rank `rank` of `ranks`. `found` is what the transport filled.
Volume volume(const Call& call, const Found& found, int rank, int ranks);

/// The volume with the algorithm of fewest steps, which is faster for small messages. For allreduce this is recursive
/// doubling, with b bytes in each of log2 P steps, or of floor(log2 P) + 2 steps if P is not a power of two (Thakur,
/// Rabenseifner & Gropp 2005, section 4). For allgather it is Bruck's algorithm, which sends the same bytes in
/// ceil(log2 P) steps (section 3). Other operations are as in volume().
Volume fewest_steps(const Call& call, const Found& found, int rank, int ranks);

/// `count` elements of `element` bytes; uneven blocks are counted as they are.
Volume allreduce_volume(int ranks, int rank, index_t count, index_t element);
Volume allgather_volume(int ranks, index_t bytes);
Volume allgatherv_volume(int rank, const std::vector<index_t>& sizes);
Volume alltoall_volume(int ranks, index_t bytes);
/// `all` as in Found.
Volume alltoallv_volume(int ranks, int rank, const std::vector<index_t>& all);
Volume reduce_scatter_volume(int ranks, index_t bytes);
Volume broadcast_volume(int ranks, int rank, int root, index_t bytes);
Volume barrier_volume(int ranks);

}  // namespace gradcomp::comm
