#pragma once
// What all trainers of a job share.
#include "gradcomp/comm/transport.hpp"
#include "gradcomp/data/task.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/train/emulated_links.hpp"
#include "gradcomp/train/job_energy.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

struct Job {
  const Options& options;
  const data::Task& task;
  nn::Model<float>& model;
  Transport& transport;            ///< carries gradients: counted, and throttled when the link is emulated
  Transport& control;              ///< carries barriers, evaluations and checks: neither counted nor throttled
  JobEnergy* energy = nullptr;     ///< null if energy is not counted
  EmulatedLinks* links = nullptr;  ///< null if the link is real

  std::string interface = {};  ///< of which the kernel counts the sent bytes (interface_bytes.hpp); empty: none

  int dedicated_ranks = 0;  ///< Strategy::dedicated_ranks() of the trainer's strategy

  /// Number of ranks that train on batches and evaluate.
  int workers() const { return control.size() - dedicated_ranks; }
  /// Whether this rank is one of them.
  bool trains() const { return control.rank() < workers(); }
  /// This rank's part of the work. If the rank only serves, the part of rank 0: all workers have the same sizes.
  data::Shard shard() const { return options.shard(trains() ? control.rank() : 0, workers()); }
};

}  // namespace gradcomp::train
