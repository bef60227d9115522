// ROCm SMI, AMD's management library. Its header is not needed: the declarations here are those of rocm_smi.h (ROCm 6).
// rsmi_status_t is an enum with RSMI_STATUS_SUCCESS = 0.
#include <cstdint>

#include "gradcomp/core/error.hpp"
#include "gradcomp/measure/energy/counter.hpp"
#include "gradcomp/measure/energy/library.hpp"

namespace gradcomp {
namespace {

class RocmSmiCounter final : public EnergyCounter {
 public:
  RocmSmiCounter(const PciAddress& address, const std::vector<std::string>& libraries)
      : m_library(libraries),
        m_shut_down(m_library.function<int (*)()>("rsmi_shut_down")),
        m_energy(m_library.function<Energy>("rsmi_dev_energy_count_get")),
        m_address(fmt::format("{:04x}:{:02x}:{:02x}", address.domain, address.bus, address.device)) {
    check("rsmi_init", m_library.function<int (*)(std::uint64_t)>("rsmi_init")(0));
    try {
      find(address);
      m_begin = microjoules();
    } catch (...) {
      m_shut_down();
      throw;
    }
  }
  ~RocmSmiCounter() override { m_shut_down(); }
  RocmSmiCounter(const RocmSmiCounter&) = delete;
  RocmSmiCounter& operator=(const RocmSmiCounter&) = delete;

  std::string source() const override { return "rocm-smi"; }
  std::string device() const override { return m_address; }
  double joules() override { return 1e-6 * (microjoules() - m_begin); }

 private:
  using Energy = int (*)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*);

  void check(const char* call, int status) const {
    require(status == 0, "{} of GPU {}: status {} of ROCm SMI", call, m_address, status);
  }

  void find(const PciAddress& address) {
    const auto address_of = m_library.function<int (*)(std::uint32_t, std::uint64_t*)>("rsmi_dev_pci_id_get");
    std::uint32_t devices = 0;
    check("rsmi_num_monitor_devices",
          m_library.function<int (*)(std::uint32_t*)>("rsmi_num_monitor_devices")(&devices));
    for (m_index = 0; m_index < devices; ++m_index) {
      std::uint64_t id = 0;  // domain in bits 32 and up, bus in 8 to 15, device in 3 to 7
      check("rsmi_dev_pci_id_get", address_of(m_index, &id));
      const PciAddress found{static_cast<int>(id >> 32), static_cast<int>(id >> 8 & 0xff),
                             static_cast<int>(id >> 3 & 0x1f)};
      if (found.domain == address.domain && found.bus == address.bus && found.device == address.device) return;
    }
    throw Error(fmt::format("ROCm SMI knows no GPU {} among {}", m_address, devices));
  }

  double microjoules() const {
    std::uint64_t count = 0, timestamp = 0;
    float resolution = 0;  // microjoules of one count
    check("rsmi_dev_energy_count_get", m_energy(m_index, &count, &resolution, &timestamp));
    return static_cast<double>(count) * static_cast<double>(resolution);
  }

  Library m_library;
  int (*m_shut_down)();
  Energy m_energy;
  std::string m_address;
  std::uint32_t m_index = 0;
  double m_begin = 0;
};

}  // namespace

std::unique_ptr<EnergyCounter> make_rocm_smi_counter(const PciAddress& address,
                                                     const std::vector<std::string>& libraries) {
  return std::make_unique<RocmSmiCounter>(address, libraries);
}

}  // namespace gradcomp
