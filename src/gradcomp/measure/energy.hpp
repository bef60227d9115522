#pragma once
// Joules that the device of this build takes, by the counter of its maker: NVML (CUDA), ROCm SMI (HIP), RAPL (hosts).
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gradcomp/measure/energy/counter.hpp"

namespace gradcomp {

/// A counter, or the reason why there is none. If a counter can no longer be read, the meter has no figure from then
/// on.
class EnergyMeter {
 public:
  using Open = std::function<std::unique_ptr<EnergyCounter>()>;

  /// `open` throws where there is nothing to count with.
  explicit EnergyMeter(const Open& open);
  ~EnergyMeter();
  EnergyMeter(EnergyMeter&&) noexcept;

  /// "nvml", "rocm-smi", "rapl" or "none".
  std::string source() const;
  /// Why the source is "none", in one line; empty otherwise.
  const std::string& reason() const { return m_reason; }
  /// EnergyCounter::device(); empty without a counter.
  std::string device() const;
  /// Joules since the meter was made. Takes microseconds (RAPL) to milliseconds (NVML): not for the timed path.
  std::optional<double> joules();

 private:
  std::unique_ptr<EnergyCounter> m_counter;
  std::string m_reason;
};

/// The meter of the device that `Exec` runs on. Call after Kokkos was initialised.
EnergyMeter device_energy();

}  // namespace gradcomp
