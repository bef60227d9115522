#pragma once
// Every transport of comm/transports/, found by CMake (cmake/Registry.cmake): adding one is adding its file pair
// (docs/adding-a-transport.md).
#include <any>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp {

/// What transports/<name>.cpp defines: `TransportEntry gradcomp::transports::<name>()`.
struct TransportEntry {
  std::string name;
  std::string summary;                ///< one line
  std::vector<Parameter> parameters;  ///< of its spec, name:key=value
  /// `owned`: the communicator that the caller owns, of the type that the transport's header names; it must outlive the
  /// transport. Collective. Throws Error for one of another type.
  std::function<std::unique_ptr<Transport>(const std::any& owned, const ParameterValues& options)> make;
  /// A program with an MPI_Comm can make it, and --transport offers it; otherwise only one that embeds the library.
  bool for_programs = true;
};

/// All entries, sorted by name. Defined in the generated source of the comm layer.
const std::vector<TransportEntry>& all_transports();

/// Those for programs.
std::vector<TransportEntry> program_transports();

/// The transport of a spec "name:key=value" over what the caller owns. Throws Error that lists what is allowed.
std::unique_ptr<Transport> make_transport(const std::string& spec, const std::any& owned);

}  // namespace gradcomp
