#pragma once
// Agreement between ranks: all ranks throw an error together, so that no rank waits for a rank that has left.
#include <functional>
#include <string>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// Collective. Throws the same AgreedError on every rank unless `text` is equal on all ranks. The error names `what`,
/// the first rank that differs from rank 0, and both texts.
void require_same_on_all_ranks(Transport& comm, const std::string& what, const std::string& text);

/// Collective. Runs `f`, which must not communicate. If it throws on any rank, every rank throws an AgreedError with
/// the text of the lowest rank on which it threw.
void run_collectively(Transport& comm, const std::function<void()>& f);

/// Collective. The texts of all ranks in rank order. For small texts: names, options, error lines.
std::vector<std::string> gather_texts(Transport& comm, const std::string& text);

}  // namespace gradcomp
