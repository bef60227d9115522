#pragma once
// What all trainers of a job share.
#include "gradcomp/comm/communicator.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/nn/model.hpp"
#include "gradcomp/train/options.hpp"

namespace gradcomp::train {

struct Job {
  const Options& options;
  const data::ImageData& data;
  nn::Model<float>& model;
  Communicator& link;     ///< carries gradients: counted, and throttled when the link is emulated
  Communicator& control;  ///< carries barriers, evaluations and checks: neither counted nor throttled
};

}  // namespace gradcomp::train
