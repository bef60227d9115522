#pragma once
// The energy that the device of this build takes, in joules, from the counter of its vendor: NVML (NVIDIA's management
// library) with CUDA, ROCm SMI (AMD's management library) with HIP, and RAPL (running average power limit) on hosts.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gradcomp/measure/energy/counter.hpp"

namespace gradcomp {

/// A counter, or the reason why there is none. If the counter can no longer be read, the meter gives no values from
/// then on.
class EnergyMeter {
 public:
  using Open = std::function<std::unique_ptr<EnergyCounter>()>;

  /// `open` throws if there is no counter.
  explicit EnergyMeter(const Open& open);
  ~EnergyMeter();
  EnergyMeter(EnergyMeter&&) noexcept;

  /// "nvml", "rocm-smi", "rapl" or "none".
  std::string source() const;
  /// Why the source is "none", in one line; empty otherwise.
  const std::string& reason() const { return m_reason; }
  /// EnergyCounter::device(); empty without a counter.
  std::string device() const;
  /// Joules since the meter was made; empty without a counter. Takes microseconds (RAPL) to milliseconds (NVML), so do
  /// not call it in timed code.
  std::optional<double> joules();

 private:
  std::unique_ptr<EnergyCounter> m_counter;
  std::string m_reason;
};

/// The meter of the device on which Exec runs. Call it after Kokkos was initialised.
EnergyMeter device_energy();

}  // namespace gradcomp
