#pragma once
// The energy of a job: every device that the ranks use is counted once, by the lowest rank that uses it. Ranks of one
// host share its processor packages, and may share a GPU.
#include <optional>
#include <string>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/measure/energy.hpp"

namespace gradcomp::train {

class JobEnergy {
 public:
  /// `host` tells the devices of different hosts apart and is not kept. Collective.
  JobEnergy(EnergyMeter meter, const std::string& host, Transport& control);

  /// "nvml", "rocm-smi" or "rapl"; "none" where some rank cannot count.
  const std::string& source() const { return m_source; }
  /// Why the source is "none", by the lowest rank that cannot count.
  const std::string& reason() const { return m_reason; }
  /// Devices that are counted: GPUs, or hosts with all of their packages.
  int devices() const { return m_devices; }

  /// Joules since the beginning that this rank counts: 0 where a lower rank counts them. Nothing without a source, or
  /// once the counter cannot be read any more.
  std::optional<double> joules();

 private:
  EnergyMeter m_meter;
  std::string m_source, m_reason;
  int m_devices = 0;
  bool m_counts = false;
};

}  // namespace gradcomp::train
