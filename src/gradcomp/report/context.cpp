#include "gradcomp/report/context.hpp"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string_view>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/core/git_version.hpp"
#include "gradcomp/core/version_config.hpp"
#include "gradcomp/measure/machine.hpp"
#include "gradcomp/report/processor.hpp"

namespace gradcomp::report {
namespace {

constexpr std::array prefixes = {"OMP_",  "KOKKOS_", "OPENBLAS_", "GRADCOMP_", "OMPI_MCA_",
                                 "NCCL_", "UCX_",    "PRTE_MCA_", "GOMP_"};
constexpr std::array names = {"SLURM_JOB_ID",        "SLURM_ARRAY_JOB_ID",  "SLURM_ARRAY_TASK_ID",
                              "SLURM_JOB_NUM_NODES", "SLURM_NTASKS",        "SLURM_CPUS_PER_TASK",
                              "SLURM_RESTART_COUNT", "SLURM_JOB_PARTITION", "MPICH_GPU_SUPPORT_ENABLED"};
// A variable with a listed prefix may still hold a secret, or the name of a user's file.
constexpr std::array refused = {"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL", "CERT", "wdir", "ssh_agent"};

std::string known(const std::string& text) { return text.empty() ? "unknown" : text; }

Json link(const LinkInfo& info) {
  return {{"kind", info.kind},
          {"text", info.text},
          {"rate_mbit_s", info.rate_mbit_s > 0 ? Json(info.rate_mbit_s) : Json(nullptr)},
          {"latency_us", info.kind == "emulated" ? Json(info.latency_us) : Json(nullptr)},
          {"slowed_by", info.slowed_by}};
}

}  // namespace

LinkInfo real_link() {
  const char* rate = std::getenv("GRADCOMP_SHAPED_LINK");
  if (rate == nullptr) return {};
  return {"shaped", rate, parse_link(rate).bits_per_second / 1e6};
}

bool is_recorded(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (std::any_of(refused.begin(), refused.end(), has)) return false;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* p) { return name.rfind(p, 0) == 0; }) ||
         std::find(names.begin(), names.end(), std::string_view(name)) != names.end();
}

Json whitelisted_environment() {
  std::map<std::string, std::string> found;  // sorted: the order of the environment means nothing
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    if (equals != std::string::npos && is_recorded(name)) found[name] = text.substr(equals + 1);
  }
  Json environment = Json::object();
  for (const auto& [name, value] : found) environment[name] = value;
  return environment;
}

std::string utc_date() { return fmt::format("{:%Y-%m-%dT%H:%M:%S}+00:00", fmt::gmtime(std::time(nullptr))); }

Json make_context(const RunInfo& run) {
  Json context;
  context["date"] = utc_date();
  context["host_name"] = "";  // records are made to be shared
  context["executable"] = run.program;
  add_processor(context);
  const Machine machine = machine_info();
  const std::string build_type = GRADCOMP_BUILD_TYPE;
  context["library_build_type"] = build_type == "Debug" ? "debug" : "release";
  context["json_schema_version"] = 1;  // of Google Benchmark's format
  context["gradcomp"] = {{"schema_version", 3},
                         {"program", run.program},
                         {"version", GRADCOMP_VERSION},
                         {"git_hash", GRADCOMP_GIT_HASH},
                         {"git_dirty", static_cast<bool>(GRADCOMP_GIT_DIRTY)},
                         {"compiler", GRADCOMP_COMPILER},
                         {"build_type", build_type},
                         {"native_arch", static_cast<bool>(GRADCOMP_NATIVE_ARCH)},
                         {"kokkos_version", machine.kokkos_version},
                         {"kokkos_backend", machine.kokkos_backend},
                         {"device", known(machine.device)},
                         {"threads", machine.threads},
                         {"ranks", run.ranks},
                         {"mpi", MpiSession::library_version()},
                         {"communicator", run.communicator},
                         {"link", link(run.link)},
                         {"cpu_model", known(machine.cpu_model)},
                         {"blas", machine.blas},
                         {"openblas_core", machine.openblas_core},
                         {"huge_pages", machine.huge_pages},
                         {"options", run.options},
                         {"seeds", run.seeds},
                         {"environment", whitelisted_environment()}};
  if (!machine.tracer.empty()) context["gradcomp"]["tracer"] = machine.tracer;  // a tracer slows what it traces
  if (!run.energy.is_null()) context["gradcomp"]["energy"] = run.energy;
  return context;
}

}  // namespace gradcomp::report
