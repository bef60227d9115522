#pragma once
// What a training is made from, opened from its options: gradcomp-train and gradcomp-tune begin with the same.
#include <memory>
#include <vector>

#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/measure/interface_bytes.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/train/contender.hpp"
#include "gradcomp/train/job.hpp"

struct TrainingJob {
  std::unique_ptr<gradcomp::Transport> control, carrier;
  std::unique_ptr<gradcomp::train::EmulatedLinks> links;  ///< null if the link is real
  std::vector<gradcomp::train::Contender> contenders;
  std::unique_ptr<gradcomp::data::Task> task;
  std::unique_ptr<gradcomp::nn::Model<float>> model;

  /// Opens and parses everything on every rank, so that errors appear before any rank starts to train. Collective.
  /// Throws Error naming what is not allowed, and AgreedError if ranks have different options or data.
  TrainingJob(const gradcomp::train::Options& options, const gradcomp::MpiSession& session);

  /// The job for the trainers. `options`: those of the constructor, or of one of its seeds.
  gradcomp::train::Job job(const gradcomp::train::Options& options,
                           gradcomp::train::JobEnergy* energy = nullptr) const {
    return {options, *task, *model, *carrier, *control, energy, links.get(), gradcomp::counted_interface()};
  }
};
