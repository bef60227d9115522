// The context says what shaped a run, and nothing that should stay private.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include "gradcomp/kernels/blas.hpp"
#include "gradcomp/report/context.hpp"
#include "gradcomp/report/processor.hpp"

namespace gradcomp::report {
namespace {

TEST(Context, EnvironmentIsAWhitelist) {
  ::setenv("OMP_GRADCOMP_TEST", "1", 1);
  ::setenv("GRADCOMP_TEST_TOKEN", "secret", 1);
  ::setenv("HOME_OF_TEST", "/somewhere", 1);
  const auto environment = whitelisted_environment();
  EXPECT_EQ(environment.at("OMP_GRADCOMP_TEST"), "1");
  EXPECT_FALSE(environment.contains("GRADCOMP_TEST_TOKEN"));
  EXPECT_FALSE(environment.contains("HOME_OF_TEST"));
  for (const char* name : {"SLURM_JOB_ID", "KOKKOS_NUM_THREADS", "OPENBLAS_CORETYPE"}) EXPECT_TRUE(is_recorded(name));
  for (const char* name : {"PATH", "USER", "SLURM_JWT", "SLURM_JOB_USER", "NCCL_SECRET_FILE", "XOMP_"})
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
  EXPECT_EQ(own["options"]["steps"], 5);
  EXPECT_EQ(own["seeds"], (Json{7, 8}));
  EXPECT_EQ(own["threads"], Kokkos::DefaultExecutionSpace().concurrency());
  EXPECT_EQ(own["blas"], kernels::blas_description());
  EXPECT_FALSE(own["git_hash"].get<std::string>().empty());
}

TEST(Context, ARealLinkHasNoRate) {
  const auto context = make_context({});
  EXPECT_EQ(context["gradcomp"]["link"]["kind"], "real");
  EXPECT_TRUE(context["gradcomp"]["link"]["rate_mbit_s"].is_null());
  EXPECT_TRUE(context["gradcomp"]["link"]["latency_us"].is_null());
}

TEST(Context, DateIsIso8601) {
  EXPECT_TRUE(std::regex_match(utc_date(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00)"))) << utc_date();
}

TEST(Context, DescribesTheProcessor) {
  Json context;
  add_processor(context);
  EXPECT_GE(context["num_cpus"].get<int>(), 1);
  for (const auto& cache : context["caches"]) {
    EXPECT_GT(cache["size"].get<std::int64_t>(), 0);
    EXPECT_GE(cache["num_sharing"].get<int>(), 1);
  }
}

}  // namespace
}  // namespace gradcomp::report
