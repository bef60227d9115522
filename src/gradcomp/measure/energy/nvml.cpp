// NVML, NVIDIA's management library. Its header is not needed: the declarations here are those of nvml.h (NVML API
// reference of CUDA 12 and 13, "Device Queries"). nvmlReturn_t is an enum with NVML_SUCCESS = 0, and nvmlDevice_t is a
// pointer.
#include "gradcomp/core/error.hpp"
#include "gradcomp/measure/energy/counter.hpp"
#include "gradcomp/measure/energy/library.hpp"

namespace gradcomp {
namespace {

using Device = void*;

class NvmlCounter final : public EnergyCounter {
 public:
  NvmlCounter(const PciAddress& address, const std::string& library)
      : m_library({library}),
        m_shutdown(m_library.function<int (*)()>("nvmlShutdown")),
        m_energy(m_library.function<int (*)(Device, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption")),
        m_text(m_library.function<const char* (*)(int)>("nvmlErrorString")),
        m_address(fmt::format("{:08x}:{:02x}:{:02x}.0", address.domain, address.bus, address.device)) {
    const auto by_address = m_library.function<int (*)(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
    check("nvmlInit_v2", m_library.function<int (*)()>("nvmlInit_v2")());
    try {
      // NVML and CUDA number devices differently (CUDA_VISIBLE_DEVICES changes only CUDA's numbers).
      check("nvmlDeviceGetHandleByPciBusId", by_address(m_address.c_str(), &m_device));
      m_begin = total();
    } catch (...) {
      m_shutdown();
      throw;
    }
  }
  ~NvmlCounter() override { m_shutdown(); }
  NvmlCounter(const NvmlCounter&) = delete;
  NvmlCounter& operator=(const NvmlCounter&) = delete;

  std::string source() const override { return "nvml"; }
  std::string device() const override { return m_address; }
  double joules() override { return 1e-3 * static_cast<double>(total() - m_begin); }

 private:
  void check(const char* call, int status) const {
    require(status == 0, "{} of GPU {}: {}", call, m_address, m_text(status));
  }

  /// Millijoules since the driver was loaded.
  unsigned long long total() const {
    unsigned long long millijoules = 0;
    check("nvmlDeviceGetTotalEnergyConsumption", m_energy(m_device, &millijoules));
    return millijoules;
  }

  Library m_library;
  int (*m_shutdown)();
  int (*m_energy)(Device, unsigned long long*);
  const char* (*m_text)(int);
  std::string m_address;
  Device m_device = nullptr;
  unsigned long long m_begin = 0;
};

}  // namespace

std::unique_ptr<EnergyCounter> make_nvml_counter(const PciAddress& address, const std::string& library) {
  return std::make_unique<NvmlCounter>(address, library);
}

}  // namespace gradcomp
