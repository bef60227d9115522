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
  /// `host` distinguishes the devices of different hosts; it is not stored. Collective.
  JobEnergy(EnergyMeter meter, const std::string& host, Transport& control);

  /// "nvml", "rocm-smi" or "rapl"; "none" if some rank cannot count.
  const std::string& source() const { return m_source; }
  /// Why the source is "none": the reason of the lowest rank that cannot count.
  const std::string& reason() const { return m_reason; }
  /// Number of devices that are counted: GPUs, or hosts with all of their packages.
  int devices() const { return m_devices; }

  /// Joules that this rank has counted since the beginning; 0 if a lower rank counts its device. Nothing if there is no
  /// source, or if the counter cannot be read any more.
  std::optional<double> joules();

 private:
  EnergyMeter m_meter;
  std::string m_source, m_reason;
  int m_devices = 0;
  bool m_counts = false;
};

}  // namespace gradcomp::train
