#pragma once
// The context of a result file: everything that influenced the run (docs/results-schema.md).
#include <cstdint>
#include <string>
#include <vector>

#include "gradcomp/report/json.hpp"

namespace gradcomp::report {

/// The link between ranks. `kind`: "real"; "shaped" (the operating system limits it); "emulated" (a throttled
/// communicator does).
struct LinkInfo {
  std::string kind = "real";
  std::string text = "mpi";  ///< as typed, e.g. "100Mbit/s,50us"; the library's name for a real one
  double rate_mbit_s = 0;    ///< 0: not limited, or several rates in turn (null in the file)
  double latency_us = 0;
  double slowed_by = 1;  ///< factor by which link and computation were slowed, because ranks share cores
};

/// The machine's own link: "shaped" where GRADCOMP_SHAPED_LINK has its rate, e.g. 100Mbit/s (tools/shaped-links sets
/// it). Throws Error if it is not a rate.
LinkInfo real_link();

/// What the program knows and the machine does not.
struct RunInfo {
  std::string program;  ///< "gradcomp-train"
  int ranks = 1;
  std::string communicator;  ///< Transport::name(); empty without one
  LinkInfo link;
  Json options = Json::object();
  std::vector<std::uint64_t> seeds;
  Json energy = nullptr;  ///< how energy was counted; null where the program does not count it
};

/// The context object: `run` and what can be asked of machine, libraries and build. Needs an initialised Kokkos.
Json make_context(const RunInfo& run);

/// Variables of the environment that shape performance, by whitelist: names that may hold secrets (tokens, keys) or
/// personal data are never recorded.
Json whitelisted_environment();

/// True when a variable of this name may be recorded.
bool is_recorded(const std::string& name);

/// Now in UTC, as 2025-01-31T12:00:00+00:00.
std::string utc_date();

}  // namespace gradcomp::report
