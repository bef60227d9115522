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
  JobEnergy* energy = nullptr;     ///< none where it is not asked for
  EmulatedLinks* links = nullptr;  ///< none where the link is real

  int dedicated_ranks = 0;  ///< Strategy::dedicated_ranks() of the trainer's strategy

  /// Ranks that train on batches, and evaluate.
  int workers() const { return control.size() - dedicated_ranks; }
  /// Whether this rank does.
  bool trains() const { return control.rank() < workers(); }
  /// This rank's part of the work; where it only serves, that of rank 0, for what all workers have in common.
  data::Shard shard() const { return options.shard(trains() ? control.rank() : 0, workers()); }
};

}  // namespace gradcomp::train
