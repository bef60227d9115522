#pragma once
// Every transport in comm/transports/. CMake finds them (cmake/Registry.cmake): to add a transport, add a file
// (docs/extend.md).
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
  /// Collective. `owned`: the communicator, which the caller owns and which must outlive the transport. The header of
  /// the transport names its type; throws Error if the type is another one.
  std::function<std::unique_ptr<Transport>(const std::any& owned, const ParameterValues& options)> make;
  /// Whether programs can make it from an MPI_Comm, so that --transport offers it. Otherwise it is only for projects
  /// that embed the library.
  bool for_programs = true;
};

/// All entries, sorted by name. Defined in the generated source of the comm layer.
const std::vector<TransportEntry>& all_transports();

/// The entries for programs.
std::vector<TransportEntry> program_transports();

/// The transport of a spec "name:key=value"; for `owned`, see TransportEntry::make. Throws Error that lists what is
/// allowed.
std::unique_ptr<Transport> make_transport(const std::string& spec, const std::any& owned);

}  // namespace gradcomp
