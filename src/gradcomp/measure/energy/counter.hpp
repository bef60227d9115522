#pragma once
// The contract of a counter of energy, and the three that there are. Each make_ function throws Error with the reason
// where it cannot count: no library, no such device, a file that only root may read.
#include <memory>
#include <string>
#include <vector>

namespace gradcomp {

class EnergyCounter {
 public:
  virtual ~EnergyCounter() = default;
  virtual std::string source() const = 0;  ///< "nvml", "rocm-smi", "rapl"
  /// What is counted, among the devices of a host: counters with equal texts count the same joules.
  virtual std::string device() const = 0;
  /// Joules since this counter was made. Throws Error when it cannot be read any more.
  virtual double joules() = 0;
};

/// Where a device sits, as the properties of CUDA and HIP devices say.
struct PciAddress {
  int domain = 0, bus = 0, device = 0;
};

/// All processor packages of the host, without memory: the zones intel-rapl:N of `folder` whose name begins with
/// "package" (Linux, Documentation/power/powercap; AMD processors have the same zones). Must be read at least once in
/// every wrap-around of max_energy_range_uj, some 20 minutes.
std::unique_ptr<EnergyCounter> make_rapl_counter(const std::string& folder = "/sys/class/powercap");

/// A whole NVIDIA GPU, Volta or later (of a MIG slice: the GPU that holds it).
std::unique_ptr<EnergyCounter> make_nvml_counter(const PciAddress& address,
                                                 const std::string& library = "libnvidia-ml.so.1");

/// A whole AMD Instinct GPU. Of a package of two dies, such as MI250X, the first counts for both.
std::unique_ptr<EnergyCounter> make_rocm_smi_counter(const PciAddress& address,
                                                     const std::vector<std::string>& libraries = {
                                                         "librocm_smi64.so", "librocm_smi64.so.7",
                                                         "/opt/rocm/lib/librocm_smi64.so"});

}  // namespace gradcomp
