#pragma once
// The order in which transfers should arrive so that a forward pass waits for them as little as possible: the two rules
// of TicTac (Hashemi et al., MLSys 2019). If the operations form one chain, as the layers of our models do, both rules
// give the order of first use.
#include <cstddef>
#include <vector>

namespace gradcomp {

/// A forward pass: what each operation waits for.
struct TransferGraph {
  struct Operation {
    double seconds = 0;
    std::vector<std::size_t> transfers;  ///< transfers that it needs itself
    std::vector<std::size_t> after;      ///< earlier operations, with smaller numbers, for which it waits
  };
  std::vector<Operation> operations;
  std::vector<double> transfer_seconds;  ///< [transfers]
};

/// Operations that form one chain. The i-th needs the list transfers[i]; transfer t takes transfer_seconds[t].
TransferGraph line_of(const std::vector<std::vector<std::size_t>>& transfers, std::vector<double> transfer_seconds);

/// The rule TIC, which knows no times. Transfers are ordered by M+, which is here the smallest number of transfers for
/// which an operation waits that needs this one and others; the smallest M+ comes first. Ties go to the smaller number.
std::vector<std::size_t> tic_order(const TransferGraph& graph);

/// The rule TAC, which knows times. M is the time of a transfer. P is the time of the operations that wait for this
/// transfer alone. M+ is the shortest remaining transfer time of an operation that needs this transfer and others. A
/// comes before B if min(P_B, M_A) < min(P_A, M_B); ties go to the smaller M+. P and M+ are computed anew after each
/// choice. The rule is not transitive, so each choice is a pass over the remaining transfers.
std::vector<std::size_t> tac_order(const TransferGraph& graph);

}  // namespace gradcomp
