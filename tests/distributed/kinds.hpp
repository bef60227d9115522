#pragma once
// Names of transports over which the same tests run.
#include <algorithm>
#include <map>

#include "distributed/world.hpp"
#include "gradcomp/comm/counting.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/comm/transports/callbacks.hpp"

namespace gradcomp::test {

/// The functions of a program with its own transport. A call begins when carry() gets it for the first time.
inline Callbacks functions_of(std::shared_ptr<Transport> own) {
  Callbacks functions{own->rank(), own->size(), "callbacks", own->overlaps(), own->concurrent(), nullptr, nullptr};
  const auto under_way = std::make_shared<std::map<const Call*, Completion>>();
  functions.carry = [own, under_way](const Exec& exec, const Call& call, Found& found) {
    const auto begun = under_way->find(&call);
    Completion completion = begun == under_way->end() ? own->start(exec, call) : std::move(begun->second);
    under_way->erase(&call);
    if (!completion.test()) {
      under_way->emplace(&call, std::move(completion));
      return false;
    }
    completion.order(exec);
    found = completion.found();
    return true;
  };
  functions.split = [own](int color, int key) { return functions_of(own->split(color, key)); };
  return functions;
}

/// Names of the registered transports of programs, and `more`.
inline std::vector<std::string> kinds(const std::vector<std::string>& more) {
  std::vector<std::string> names = transports();
  if (std::find(names.begin(), names.end(), "nccl") != names.end()) {
    for (const char* option : {"allgatherv=padded", "allgatherv=broadcast", "allgatherv=send_recv"}) {
      names.push_back(std::string("nccl:") + option);
    }
  }
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

/// Null where ranks share a device, and NCCL takes one rank per device.
inline std::unique_ptr<Transport> transport_of_kind(const std::string& kind) {
  MpiOptions options;
  const bool chunked = kind == "chunked" || kind == "aware_chunked";
  const bool aware = kind == "aware" || kind == "aware_chunked";
  if (chunked) options.chunk_limit = 7;
  // An MPI that cannot read device memory must not get it. On a host, every MPI can do what a GPU-aware one does.
  if (aware && (device_is_host || mpi_is_gpu_aware())) options.gpu_aware = MpiOptions::GpuAware::on;
  if (kind == "staged") options.always_stage = true;
  auto mpi = make_mpi(MPI_COMM_WORLD, options);
  if (kind == "counting") return make_counting(std::move(mpi));
  if (kind == "queued") return make_queued(std::move(mpi));
  if (kind == "throttled") return make_throttled(std::move(mpi), parse_link("100Gbit/s,1us"));
  if (kind == "callbacks") return make_callbacks(functions_of(std::move(mpi)));
  if (options.always_stage || chunked || aware) return mpi;
  try {
    return make_transport(kind, MPI_COMM_WORLD);
  } catch (const AgreedError& error) {
    if (std::string(error.what()).find("one rank per device") == std::string::npos) throw;
    return nullptr;
  }
}

/// Tests that run over every kind of transport that these ranks can use.
class OverKind : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (comm == nullptr) GTEST_SKIP() << "NCCL takes one rank per device";
  }

  std::unique_ptr<Transport> comm = transport_of_kind(GetParam());
  int rank = comm != nullptr ? comm->rank() : 0, ranks = comm != nullptr ? comm->size() : 1;
  Exec exec;
};

}  // namespace gradcomp::test
