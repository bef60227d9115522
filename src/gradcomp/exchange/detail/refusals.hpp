#pragma once
// What reducers ask of a method before they carry its messages.
#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/info.hpp"

namespace gradcomp {

/// All rounds can be added (or maximised) on their way.
inline bool sends_sums(const Info& info) {
  return std::all_of(info.rounds.begin(), info.rounds.end(),
                     [](MessageKind kind) { return kind == MessageKind::summable; });
}

/// Why a reducer that adds messages cannot carry a method's; empty: it can.
inline std::string refuses_unsummable(const Info& info) {
  if (!info.travels) return fmt::format("method {} sends nothing that could be summed", info.name);
  return sends_sums(info) ? "" : fmt::format("method {} sends bytes, which cannot be summed", info.name);
}

/// One round of bytes.
inline bool sends_bytes(const Info& info) { return info.rounds.size() == 1 && info.rounds[0] == MessageKind::bytes; }

}  // namespace gradcomp
