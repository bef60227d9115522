#include "gradcomp/report/processor.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace gradcomp::report {
namespace {

/// First line of a small file; empty when there is none.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The value of the first "key : value" line of /proc/cpuinfo.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.rfind(key, 0) != 0 || colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// "48K" as bytes.
std::int64_t size_of(const std::string& text) {
  char* end = nullptr;
  const auto value = std::strtoll(text.c_str(), &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/// Bits set in a mask as sysfs writes it: "0000000f,ffffffff".
int count_bits(const std::string& mask) {
  int bits = 0;
  for (const char c : mask) {
    if (c != ',') bits += std::popcount(static_cast<unsigned>(std::strtoul(std::string(1, c).c_str(), nullptr, 16)));
  }
  return bits;
}

Json caches() {
  Json list = Json::array();
  for (int index = 0;; ++index) {
    const auto folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const auto type = first_line(folder + "type");
    if (type.empty()) return list;
    list.push_back({{"type", type},
                    {"level", static_cast<int>(number(first_line(folder + "level")))},
                    {"size", size_of(first_line(folder + "size"))},
                    {"num_sharing", count_bits(first_line(folder + "shared_cpu_map"))}});
  }
}

}  // namespace

void add_processor(Json& context) {
  const std::string frequency = "/sys/devices/system/cpu/cpu0/cpufreq/";
  const auto fastest = first_line(frequency + "scaling_max_freq");  // kHz
  const auto governor = first_line(frequency + "scaling_governor");
  context["num_cpus"] = std::max(1u, std::thread::hardware_concurrency());
  context["mhz_per_cpu"] = static_cast<int>(fastest.empty() ? number(cpuinfo("cpu MHz")) : number(fastest) / 1e3);
  context["cpu_scaling_enabled"] = !governor.empty() && governor != "performance";
  context["caches"] = caches();
  double load[3] = {0, 0, 0};
  const int known = ::getloadavg(load, 3);
  context["load_avg"] = Json::array();
  for (int i = 0; i < known; ++i) context["load_avg"].push_back(load[i]);
}

}  // namespace gradcomp::report
