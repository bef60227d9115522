#pragma once
// What reducers require of a method before they carry its messages.
#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/info.hpp"

namespace gradcomp {

/// Whether the messages of all rounds can be added (or maximised) on their way.
inline bool sends_sums(const Info& info) {
  return std::all_of(info.rounds.begin(), info.rounds.end(),
                     [](MessageKind kind) { return kind == MessageKind::summable; });
}

/// Why a reducer that adds messages cannot carry those of a method; empty if it can.
inline std::string refuses_unsummable(const Info& info) {
  if (!info.travels) return fmt::format("method {} sends nothing that could be summed", info.name);
  return sends_sums(info) ? "" : fmt::format("method {} sends bytes, which cannot be summed", info.name);
}

/// Whether the method has one round, of bytes.
inline bool sends_bytes(const Info& info) { return info.rounds.size() == 1 && info.rounds[0] == MessageKind::bytes; }

/// Why a reducer that cuts buckets into stripes and compresses sums of them again cannot carry a method; empty if it
/// can.
inline std::string refuses_striped(const Info& info) {
  if (!sends_bytes(info)) {
    return fmt::format("it carries one round of bytes, and method {} has other messages", info.name);
  }
  if (info.property == Info::Property::sign) {
    return fmt::format("it averages, and method {} sends signs; allowed: vote, allgather", info.name);
  }
  if (info.family == Info::Family::sparsifier) {
    return fmt::format("it compresses a mean of all elements again, and method {} sends chosen ones", info.name);
  }
  if (!info.stripes) return fmt::format("it cuts buckets into stripes, and method {} needs them whole", info.name);
  return "";
}

}  // namespace gradcomp
