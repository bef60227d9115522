// The context contains what influenced a run, and nothing that should stay private.
#include "gradcomp/report/context.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <thread>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"
#include "gradcomp/report/processor.hpp"

namespace gradcomp::report {
namespace context_test {

TEST(Context, EnvironmentIsAWhitelist) {
  ::setenv("OMP_GRADCOMP_TEST", "1", 1);
  ::setenv("GRADCOMP_TEST_TOKEN", "secret", 1);
  ::setenv("HOME_OF_TEST", "/somewhere", 1);
  const auto environment = whitelisted_environment();
  EXPECT_EQ(environment.at("OMP_GRADCOMP_TEST"), "1");
  EXPECT_FALSE(environment.contains("GRADCOMP_TEST_TOKEN"));
  EXPECT_FALSE(environment.contains("HOME_OF_TEST"));
  for (const char* name : {"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_NUM_NODES",
                           "SLURM_NTASKS", "SLURM_CPUS_PER_TASK", "SLURM_RESTART_COUNT", "SLURM_JOB_PARTITION",
                           "MPICH_GPU_SUPPORT_ENABLED", "OMP_NUM_THREADS", "KOKKOS_NUM_THREADS", "OPENBLAS_CORETYPE",
                           "GRADCOMP_LINK", "OMPI_MCA_pml", "NCCL_ALGO", "UCX_TLS", "PRTE_MCA_x", "GOMP_SPINCOUNT"})
    EXPECT_TRUE(is_recorded(name)) << name;
  for (const char* name :
       {"PATH", "USER", "SLURM_JWT", "SLURM_JOB_USER", "NCCL_SECRET_FILE", "XOMP_", "OMP_PASSWD", "UCX_KEY_X",
        "UCX_CREDENTIALS", "NCCL_CERT_A", "OMPI_MCA_initial_wdir", "PRTE_MCA_plm_ssh_agent"})
    EXPECT_FALSE(is_recorded(name)) << name;
}

TEST(Context, CarriesTheRun) {
  RunInfo run;
  run.program = "gradcomp-train";
  run.ranks = 3;
  run.communicator = "emulated(1Gbit/s)/counting/mpi";
  run.link = {"emulated", "1Gbit/s,20us", 1000, 20};
  run.options = {{"steps", 5}};
  run.seeds = {7, 8};
  const auto context = make_context(run);
  EXPECT_EQ(context["executable"], "gradcomp-train");
  EXPECT_EQ(context["host_name"], "");
  const auto& own = context["gradcomp"];
  EXPECT_EQ(own["ranks"], 3);
  EXPECT_EQ(own["link"]["kind"], "emulated");
  EXPECT_EQ(own["link"]["rate_mbit_s"], 1000.0);
  EXPECT_EQ(own["link"]["latency_us"], 20.0);
  EXPECT_EQ(own["link"]["slowed_by"], 1.0);
  EXPECT_EQ(own["schema_version"], 3);
  EXPECT_EQ(own["program"], "gradcomp-train");
  EXPECT_EQ(own["communicator"], "emulated(1Gbit/s)/counting/mpi");
  EXPECT_FALSE(own.contains("energy"));
  EXPECT_EQ(own["options"]["steps"], 5);
  EXPECT_EQ(own["seeds"], (Json{7, 8}));
  EXPECT_EQ(own["threads"], HostExec().concurrency());
  EXPECT_EQ(own["blas"], kernels::blas_description());
  EXPECT_FALSE(own["git_hash"].get<std::string>().empty());
}

TEST(Context, ARealLinkHasNoRate) {
  const auto context = make_context({});
  EXPECT_EQ(context["gradcomp"]["link"]["kind"], "real");
  EXPECT_TRUE(context["gradcomp"]["link"]["rate_mbit_s"].is_null());
  EXPECT_TRUE(context["gradcomp"]["link"]["latency_us"].is_null());
}

TEST(Context, AShapedLinkIsNamedByTheEnvironment) {
  EXPECT_EQ(real_link().kind, "real");
  setenv("GRADCOMP_SHAPED_LINK", "100Mbit/s", 1);
  RunInfo run;
  run.link = real_link();
  const Json link = make_context(run)["gradcomp"]["link"];
  EXPECT_EQ(link["kind"], "shaped");
  EXPECT_EQ(link["text"], "100Mbit/s");
  EXPECT_EQ(link["rate_mbit_s"], 100.0);
  EXPECT_TRUE(link["latency_us"].is_null()) << "it is unknown";
  setenv("GRADCOMP_SHAPED_LINK", "fast", 1);
  EXPECT_THROW(real_link(), Error);
  unsetenv("GRADCOMP_SHAPED_LINK");
}

TEST(Context, DateIsIso8601) {
  EXPECT_TRUE(std::regex_match(utc_date(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00)"))) << utc_date();
}

TEST(Context, DescribesTheProcessor) {
  Json context;
  add_processor(context);
  EXPECT_GE(context["num_cpus"].get<int>(), 1);
  EXPECT_EQ(context["num_cpus"], std::max(1u, std::thread::hardware_concurrency()));
  EXPECT_EQ(context["load_avg"].size(), 3U);
  for (const auto& cache : context["caches"]) {
    EXPECT_GT(cache["size"].get<std::int64_t>(), 0);
    EXPECT_GE(cache["num_sharing"].get<int>(), 1);
  }
  const std::string frequency = "/sys/devices/system/cpu/cpu0/cpufreq/";
  std::string governor;
  std::ifstream(frequency + "scaling_governor") >> governor;
  EXPECT_EQ(context["cpu_scaling_enabled"], !governor.empty() && governor != "performance");
  double khz = 0, mhz = 0;
  if (std::ifstream(frequency + "scaling_max_freq") >> khz) {
    EXPECT_NEAR(context["mhz_per_cpu"].get<double>(), khz / 1e3, 1);
  }
  std::ifstream processors("/proc/cpuinfo");
  for (std::string line; mhz == 0 && std::getline(processors, line);) {
    if (line.rfind("cpu MHz", 0) == 0) mhz = std::stod(line.substr(line.find(':') + 1));
  }
  if (khz == 0 && mhz > 0) {
    EXPECT_NEAR(context["mhz_per_cpu"].get<double>(), mhz, 0.5 * mhz) << "the frequency may change";
  }
  // Linux says "32K" and level 1 for the first cache, and the number of processors that share it.
  std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index0/size");
  std::int64_t kib = 0;
  if (!(size >> kib)) GTEST_SKIP() << "this machine says nothing about its caches";
  EXPECT_EQ(context["caches"][0]["size"], 1024 * kib);
  EXPECT_EQ(context["caches"][0]["level"], 1);
  int sharing = 0, first = 0, last = 0;  // "0-3,8" are five processors
  std::ifstream list("/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list");
  for (char sign = ','; sign == ',' && list >> first; list >> sign) {
    last = first;
    if (list.peek() == '-') list >> sign >> last;
    sharing += last - first + 1;
    sign = '\0';
  }
  EXPECT_EQ(context["caches"][0]["num_sharing"], sharing);
  std::size_t folders = 0;
  while (std::ifstream("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(folders) + "/type")) ++folders;
  EXPECT_EQ(context["caches"].size(), folders);
}

}  // namespace context_test
}  // namespace gradcomp::report
