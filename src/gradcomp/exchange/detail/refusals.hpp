#pragma once
// What reducers ask of a method before they carry its messages.
#include <algorithm>

#include "gradcomp/core/info.hpp"

namespace gradcomp {

/// All rounds can be added (or maximised) on their way.
inline bool sends_sums(const Info& info) {
  return std::all_of(info.rounds.begin(), info.rounds.end(),
                     [](MessageKind kind) { return kind == MessageKind::summable; });
}

/// One round of bytes.
inline bool sends_bytes(const Info& info) { return info.rounds.size() == 1 && info.rounds[0] == MessageKind::bytes; }

}  // namespace gradcomp
