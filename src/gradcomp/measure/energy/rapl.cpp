#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "gradcomp/core/error.hpp"
#include "gradcomp/measure/energy/counter.hpp"

namespace gradcomp {
namespace {

namespace fs = std::filesystem;

std::uint64_t read_number(const fs::path& path) {
  errno = 0;
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  throw Error(fmt::format("cannot read '{}': {}", path.string(), errno != 0 ? std::strerror(errno) : "no number"));
}

struct Zone {
  fs::path file;
  std::uint64_t range = 0;  ///< microjoules at which the counter wraps around
  std::uint64_t last = 0, sum = 0;

  void read() {
    const std::uint64_t now = read_number(file);
    sum += now >= last ? now - last : now + (range - last);
    last = now;
  }
};

class RaplCounter final : public EnergyCounter {
 public:
  explicit RaplCounter(const std::string& folder) {
    // Parts of a package ("intel-rapl:0:0") and the whole board ("psys") are left out: they would count joules twice.
    const std::string prefix = "intel-rapl:";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string zone_name = entry.path().filename();
      if (!zone_name.starts_with(prefix) || zone_name.find(':', prefix.size()) != std::string::npos) continue;
      std::string name;
      if (!std::getline(std::ifstream(entry.path() / "name"), name) || !name.starts_with("package")) continue;
      Zone zone{entry.path() / "energy_uj", read_number(entry.path() / "max_energy_range_uj")};
      zone.last = read_number(zone.file);
      require(zone.last <= zone.range, "'{}' is beyond max_energy_range_uj", zone.file.string());
      m_zones.push_back(zone);
    }
    require(!m_zones.empty(), "'{}' has no processor package that counts energy", folder);
  }

  std::string source() const override { return "rapl"; }
  std::string device() const override { return "packages"; }

  double joules() override {
    double sum = 0;
    for (Zone& zone : m_zones) {
      zone.read();
      sum += 1e-6 * static_cast<double>(zone.sum);
    }
    return sum;
  }

 private:
  std::vector<Zone> m_zones;
};

}  // namespace

std::unique_ptr<EnergyCounter> make_rapl_counter(const std::string& folder) {
  return std::make_unique<RaplCounter>(folder);
}

}  // namespace gradcomp
