#pragma once
// The contract of a counter of energy, and its three implementations. Each make_ function throws Error with the reason
// if it cannot count: there is no library or no such device, or only root may read a file.
#include <memory>
#include <string>
#include <vector>

namespace gradcomp {

class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  virtual std::string source() const = 0;  ///< "nvml", "rocm-smi", "rapl"
  /// The device of the host that is counted: counters with equal texts count the same joules.
  virtual std::string device() const = 0;
  /// Joules since this counter was made. Throws Error if it can no longer be read.
  virtual double joules() = 0;
};

/// The address of a device on the PCI bus, from the properties of CUDA and HIP devices.
struct PciAddress {
  int domain = 0, bus = 0, device = 0;
};

/// Counts all processor packages of the host, without memory: the zones intel-rapl:N of `folder` whose name begins with
/// "package" (Linux, Documentation/power/powercap; AMD processors have the same zones). It must be read at least once
/// before the counter wraps around at max_energy_range_uj, which takes about 20 minutes.
std::unique_ptr<EnergyCounter> make_rapl_counter(const std::string& folder = "/sys/class/powercap");

/// Counts a whole NVIDIA GPU, Volta or later. For a slice of a GPU (MIG, multi-instance GPU), it counts the whole GPU.
std::unique_ptr<EnergyCounter> make_nvml_counter(const PciAddress& address,
                                                 const std::string& library = "libnvidia-ml.so.1");

/// Counts a whole AMD Instinct GPU. In a package of two dies, such as MI250X, the first die counts for both.
std::unique_ptr<EnergyCounter> make_rocm_smi_counter(const PciAddress& address,
                                                     const std::vector<std::string>& libraries = {
                                                         "librocm_smi64.so", "librocm_smi64.so.7",
                                                         "/opt/rocm/lib/librocm_smi64.so"});

}  // namespace gradcomp
