#pragma once
// In which order transfers should arrive, so that a forward pass waits as little as possible for them: the two rules of
// TicTac (Hashemi et al., MLSys 2019). Where operations follow each other in one line, as the layers of our models do,
// both give the order in which transfers are first used.
#include <cstddef>
#include <vector>

namespace gradcomp {

/// A forward pass: what each operation waits for.
struct TransferGraph {
  struct Operation {
    double seconds = 0;
    std::vector<std::size_t> transfers;  ///< that it needs itself
    std::vector<std::size_t> after;      ///< operations in front of it, with smaller numbers
  };
  std::vector<Operation> operations;
  std::vector<double> transfer_seconds;  ///< [transfers]
};

/// Operations in one line; the i-th needs `transfers[i]` (each a list), which take so many seconds.
TransferGraph line_of(const std::vector<std::vector<std::size_t>>& transfers, std::vector<double> transfer_seconds);

/// TIC, which knows no times: ascending by the fewest transfers that an operation waits for which needs this one and
/// others. Of equal ones the smaller number comes first.
std::vector<std::size_t> tic_order(const TransferGraph& graph);

/// TAC, which does: A comes before B if min(P_B, M_A) < min(P_A, M_B), where M is a transfer's time and P that of the
/// operations that it alone still holds up; among equal ones that with the smaller M+, the least time that is still to
/// be transferred for an operation which needs it and others. All three are found again after each choice. The rule is
/// not transitive, so each choice is a pass over what is left.
std::vector<std::size_t> tac_order(const TransferGraph& graph);

}  // namespace gradcomp
