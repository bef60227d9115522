// A library with the functions of ROCm SMI (system management interface) that energy/rocm_smi.cpp calls. It has two
// GPUs, at 0001:23:00 and 0001:c3:02.
#include <cstdint>

namespace {
std::uint64_t counts[] = {1'000'000, 2'000'000};
}

extern "C" {
int rsmi_init(std::uint64_t) { return 0; }
int rsmi_shut_down() { return 0; }
int rsmi_num_monitor_devices(std::uint32_t* devices) {
  *devices = 2;
  return 0;
}
int rsmi_dev_pci_id_get(std::uint32_t index, std::uint64_t* id) {
  constexpr std::uint64_t partition = 3;  // bits 28 to 31, which do not belong to the address
  *id = std::uint64_t{1} << 32 | partition << 28 | (index == 0 ? 0x23u << 8 : 0xc3u << 8 | 2u << 3);
  return index < 2 ? 0 : 1;
}
int rsmi_dev_energy_count_get(std::uint32_t index, std::uint64_t* count, float* resolution, std::uint64_t* timestamp) {
  if (index > 1 || timestamp == nullptr) return 1;
  *count = counts[index];
  *resolution = 16.0F;
  *timestamp = 0;
  return 0;
}
void fake_rocm_smi_take(std::uint32_t index, std::uint64_t more) { counts[index] += more; }
}
