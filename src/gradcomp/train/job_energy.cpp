#include "gradcomp/train/job_energy.hpp"

#include <algorithm>
#include <set>

#include "gradcomp/comm/agree.hpp"

namespace gradcomp::train {

JobEnergy::JobEnergy(EnergyMeter meter, const std::string& host, Transport& control) : m_meter(std::move(meter)) {
  const auto sources = gather_texts(control, m_meter.source());
  const auto reasons = gather_texts(control, m_meter.reason());
  const auto devices = gather_texts(control, host + " " + m_meter.device());
  const auto missing = std::find(sources.begin(), sources.end(), "none");
  if (missing != sources.end()) {
    m_source = "none";
    m_reason = reasons[static_cast<std::size_t>(missing - sources.begin())];
    return;
  }
  m_source = sources[0];
  m_devices = static_cast<int>(std::set(devices.begin(), devices.end()).size());
  const auto own = devices.begin() + control.rank();
  m_counts = std::find(devices.begin(), own, *own) == own;
}

std::optional<double> JobEnergy::joules() {
  if (m_source == "none") return std::nullopt;
  return m_counts ? m_meter.joules() : 0;
}

}  // namespace gradcomp::train
