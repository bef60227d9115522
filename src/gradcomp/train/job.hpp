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

  /// This rank's part of the work.
  data::Shard shard() const { return options.shard(control.rank(), control.size()); }
};

}  // namespace gradcomp::train
