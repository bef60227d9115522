#pragma once
// The properties of the machine that influence a measurement, for the context of result files. The host name is left
// out unless it is asked for, because result files are made to be shared.
#include <string>

namespace gradcomp {

struct Machine {
  std::string cpu_model;             ///< as the operating system calls it; empty if unknown
  int cores = 0;                     ///< logical processors that this process may use
  int cores_online = 0;              ///< logical processors of the machine
  int threads = 0;                   ///< of the host execution space of Kokkos in this process
  std::string kokkos_version;        ///< "5.2.2"
  std::string kokkos_backend;        ///< "OpenMP", "Cuda", ...
  std::string device;                ///< the accelerator's name; the CPU model in a host-only build
  std::string kokkos_configuration;  ///< the text of Kokkos::print_configuration
  std::string blas;                  ///< the library that multiplies matrices (kernels::blas_description)
  std::string openblas_core;  ///< whose kernels OpenBLAS chose ("Haswell", "SkylakeX", ...); empty without OpenBLAS
  std::string tracer;         ///< the program that traces this process ("proot", "gdb") and slows it; empty without one
  std::string huge_pages;     ///< when Linux gives them: "always", "madvise" (on request), "never"; empty if unknown
  std::string host_name;      ///< empty unless asked for
};

/// The program that traces this process by ptrace (Machine::tracer).
std::string tracer();

/// The properties of this machine. Call it after Kokkos was initialised.
Machine machine_info(bool with_host_name = false);

}  // namespace gradcomp
