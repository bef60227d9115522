#include "gradcomp/measure/energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "gradcomp/core/error.hpp"
#include "gradcomp/measure/energy/library.hpp"

namespace gradcomp {
namespace energy_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A folder like /sys/class/powercap.
class Powercap : public testing::Test {
 protected:
  Powercap() {
    std::string name = fs::temp_directory_path() / "gradcomp-powercap-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw Error("no temporary folder");
    m_folder = name;
  }
  ~Powercap() override { fs::remove_all(m_folder); }

  void zone(const std::string& zone, const std::string& name, std::uint64_t microjoules) {
    fs::create_directories(m_folder / zone);
    std::ofstream(m_folder / zone / "name") << name << "\n";
    std::ofstream(m_folder / zone / "max_energy_range_uj") << 262143328850 << "\n";
    set(zone, microjoules);
  }
  void set(const std::string& zone, std::uint64_t microjoules) {
    std::ofstream(m_folder / zone / "energy_uj") << microjoules << "\n";
  }
  std::string refusal() {
    const EnergyMeter meter([&] { return make_rapl_counter(m_folder); });
    EXPECT_EQ(meter.source(), "none");
    return meter.reason();
  }

  fs::path m_folder;
};

/// A library of tests/unit/measure/fakes, which is in the folder of this program.
std::string fake(const std::string& name) {
  return fs::read_symlink("/proc/self/exe").parent_path() / ("libfake_" + name + ".so");
}

TEST_F(Powercap, SumsThePackagesAlone) {
  zone("intel-rapl:0", "package-0", 1'000'000);
  zone("intel-rapl:1", "package-1", 9'000'000);
  zone("intel-rapl:0:0", "core", 500'000);
  zone("intel-rapl:2", "psys", 700'000);
  EnergyMeter meter([&] { return make_rapl_counter(m_folder); });
  EXPECT_EQ(meter.source(), "rapl");
  EXPECT_EQ(meter.reason(), "");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 0);
  set("intel-rapl:0", 3'500'000);
  set("intel-rapl:1", 9'250'000);
  set("intel-rapl:0:0", 900'000);
  set("intel-rapl:2", 9'700'000);
  EXPECT_DOUBLE_EQ(meter.joules().value(), 2.75);
}

TEST_F(Powercap, GoesOnWhereTheCounterBeginsAnew) {
  zone("intel-rapl:0", "package-0", 262143328850 - 2'000'000);
  EnergyMeter meter([&] { return make_rapl_counter(m_folder); });
  set("intel-rapl:0", 1'000'000);
  EXPECT_DOUBLE_EQ(meter.joules().value(), 3);
  set("intel-rapl:0", 262143328850);
  EXPECT_DOUBLE_EQ(meter.joules().value(), 262145.32885);
  set("intel-rapl:0", 500'000);
  EXPECT_DOUBLE_EQ(meter.joules().value(), 262145.82885);
}

TEST_F(Powercap, SaysWhyThereIsNoFigure) {
  EXPECT_THAT(refusal(), HasSubstr("no processor package"));
  zone("intel-rapl:0", "psys", 1);
  EXPECT_THAT(refusal(), HasSubstr("no processor package"));
  zone("intel-rapl:1", "package-0", 1);
  std::ofstream(m_folder / "intel-rapl:1" / "energy_uj") << "none\n";
  EXPECT_THAT(refusal(), HasSubstr("energy_uj': no number"));
  fs::remove_all(m_folder);
  EXPECT_THAT(refusal(), HasSubstr(m_folder.string()));
}

TEST_F(Powercap, NamesAFileThatOnlyRootMayRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  zone("intel-rapl:0", "package-0", 1);
  fs::permissions(m_folder / "intel-rapl:0" / "energy_uj", fs::perms::none);
  EXPECT_THAT(refusal(), HasSubstr("energy_uj': Permission denied"));
}

TEST_F(Powercap, AFileThatCannotBeReadHasNoFigure) {  // the same for root
  zone("intel-rapl:0", "package-0", 1);
  fs::remove(m_folder / "intel-rapl:0" / "energy_uj");
  fs::create_directory(m_folder / "intel-rapl:0" / "energy_uj");
  EXPECT_THAT(refusal(), HasSubstr("cannot read '"));
}

TEST_F(Powercap, ACounterThatVanishesEndsTheMeter) {
  zone("intel-rapl:0", "package-0", 1);
  EnergyMeter meter([&] { return make_rapl_counter(m_folder); });
  fs::remove(m_folder / "intel-rapl:0" / "energy_uj");
  EXPECT_EQ(meter.joules(), std::nullopt);
  EXPECT_EQ(meter.source(), "none");
  EXPECT_THAT(meter.reason(), HasSubstr("No such file"));
  set("intel-rapl:0", 5);
  EXPECT_EQ(meter.joules(), std::nullopt);
}

TEST(Energy, NvmlCountsTheGpuAtAnAddress) {
  const Library library({fake("nvml")});
  const auto take = library.function<void (*)(unsigned long long)>("fake_nvml_take");
  const auto users = library.function<int (*)()>("fake_nvml_users");
  {
    EnergyMeter meter([] { return make_nvml_counter({0, 0x17, 0}, fake("nvml")); });
    EXPECT_EQ(meter.source(), "nvml") << meter.reason();
    EXPECT_EQ(meter.device(), "00000000:17:00.0");
    EXPECT_DOUBLE_EQ(meter.joules().value(), 0);
    take(4'250);
    EXPECT_DOUBLE_EQ(meter.joules().value(), 4.25);
    EXPECT_EQ(users(), 1);
    const EnergyMeter other([] { return make_nvml_counter({0, 0x18, 0}, fake("nvml")); });
    EXPECT_EQ(other.source(), "none");
    EXPECT_EQ(other.reason(), "nvmlDeviceGetHandleByPciBusId of GPU 00000000:18:00.0: Not Found");
    library.function<void (*)()>("fake_nvml_lose")();
    EXPECT_EQ(meter.joules(), std::nullopt);
    EXPECT_THAT(meter.reason(), HasSubstr("GPU is lost"));
  }
  EXPECT_EQ(users(), 0);
}

TEST(Energy, RocmSmiCountsTheGpuAtAnAddress) {
  const Library library({fake("rocm_smi")});
  const auto take = library.function<void (*)(std::uint32_t, std::uint64_t)>("fake_rocm_smi_take");
  EnergyMeter meter([] { return make_rocm_smi_counter({1, 0xc3, 2}, {fake("rocm_smi")}); });
  EXPECT_EQ(meter.source(), "rocm-smi") << meter.reason();
  take(0, 77);
  take(1, 125'000);
  EXPECT_DOUBLE_EQ(meter.joules().value(), 2);
  const EnergyMeter other([] { return make_rocm_smi_counter({0, 0xc3, 2}, {fake("rocm_smi")}); });
  EXPECT_THAT(other.reason(), HasSubstr("knows no GPU 0000:c3:02 among 2"));
}

TEST(Energy, NamesALibraryOrAFunctionThatIsNotThere) {
  const EnergyMeter missing([] { return make_nvml_counter({}, "libgradcomp-no-such-library.so"); });
  EXPECT_THAT(missing.reason(), HasSubstr("libgradcomp-no-such-library.so"));
  const EnergyMeter wrong([] { return make_nvml_counter({}, fake("rocm_smi")); });
  EXPECT_THAT(wrong.reason(), HasSubstr("has no function nvmlShutdown"));
}

TEST(Energy, TheDeviceOfThisBuildHasACounterOrAReason) {
  EnergyMeter meter = device_energy();
  EXPECT_EQ(meter.source() == "none", !meter.reason().empty());
  EXPECT_EQ(meter.joules().has_value(), meter.source() != "none");
}

}  // namespace energy_test
}  // namespace gradcomp
