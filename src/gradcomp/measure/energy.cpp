#include "gradcomp/measure/energy.hpp"

#include <exception>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

EnergyMeter::EnergyMeter(const Open& open) {
  try {
    m_counter = open();
  } catch (const std::exception& error) {
    m_reason = error.what();
  }
}

EnergyMeter::~EnergyMeter() = default;
EnergyMeter::EnergyMeter(EnergyMeter&&) noexcept = default;

std::string EnergyMeter::source() const { return m_counter ? m_counter->source() : "none"; }

std::string EnergyMeter::device() const { return m_counter ? m_counter->device() : ""; }

std::optional<double> EnergyMeter::joules() {
  if (!m_counter) return std::nullopt;
  try {
    return m_counter->joules();
  } catch (const std::exception& error) {
    m_reason = error.what();
    m_counter.reset();
    return std::nullopt;
  }
}

EnergyMeter device_energy() {
#if defined(KOKKOS_ENABLE_CUDA)
  const auto properties = Exec().cuda_device_prop();
  const PciAddress address{properties.pciDomainID, properties.pciBusID, properties.pciDeviceID};
  return EnergyMeter([&] { return make_nvml_counter(address); });
#elif defined(KOKKOS_ENABLE_HIP)
  const auto properties = Exec().hip_device_prop();
  const PciAddress address{properties.pciDomainID, properties.pciBusID, properties.pciDeviceID};
  return EnergyMeter([&] { return make_rocm_smi_counter(address); });
#else
  return EnergyMeter([] { return make_rapl_counter(); });
#endif
}

}  // namespace gradcomp
