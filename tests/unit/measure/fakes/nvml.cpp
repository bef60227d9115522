// A library with the functions of NVML (NVIDIA Management Library) that energy/nvml.cpp calls. It has one GPU, at
// 0000:17:00.0.
#include <cstring>

namespace {
unsigned long long millijoules = 5'000'000;
int users = 0;
bool lost = false;
int gpu = 0;
}  // namespace

extern "C" {
int nvmlInit_v2() { return ++users > 0 ? 0 : 1; }
int nvmlShutdown() { return --users >= 0 ? 0 : 1; }
const char* nvmlErrorString(int status) { return status == 6 ? "Not Found" : "GPU is lost"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  if (users == 0) return 1;
  *device = &gpu;
  return std::strcmp(address, "00000000:17:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy) {
  if (users == 0 || device != &gpu || lost) return 15;
  *energy = millijoules;
  return 0;
}
void fake_nvml_take(unsigned long long more) { millijoules += more; }
void fake_nvml_lose() { lost = true; }
int fake_nvml_users() { return users; }
}
