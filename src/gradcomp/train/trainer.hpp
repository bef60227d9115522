#pragma once
// One method's training run: its own parameters, optimiser, state (batch-norm statistics, hidden state), data and
// schedule. Several trainers share one model object, which only holds the activations.
#include <memory>
#include <vector>

#include "gradcomp/data/loader.hpp"
#include "gradcomp/exchange/schedule.hpp"
#include "gradcomp/measure/timeline.hpp"
#include "gradcomp/nn/clip.hpp"
#include "gradcomp/nn/schedule.hpp"
#include "gradcomp/nn/sgd.hpp"
#include "gradcomp/train/evaluation.hpp"
#include "gradcomp/train/gradient_dump.hpp"
#include "gradcomp/train/job.hpp"
#include "gradcomp/train/result.hpp"

namespace gradcomp::train {

class Trainer {
 public:
  /// Same seed, same initial weights and same batches for every method. Collective.
  Trainer(const Job& job, const MethodSpec& method);

  /// One step. Steps of the warm-up are trained but not timed. Collective.
  void step(const Exec& exec, bool warmup);

  /// Evaluates on the test set, sharded over the ranks, adds a point to the curve, and compares the replicas.
  /// Collective.
  void evaluate(const Exec& exec);

  /// Agrees the measurements over ranks and returns the result. Collective.
  MethodResult finish();

 private:
  StepReport train(const Exec& exec, Timeline* timeline);

  Job m_job;
  MethodResult m_result;
  nn::Schedule m_rate;
  Vector<float> m_parameters, m_gradient, m_mean, m_state;
  Vector<float> m_test_state;  ///< what evaluations may change of m_state
  nn::Sgd<float> m_sgd;
  nn::NormClip m_clip;
  std::unique_ptr<Schedule> m_schedule;
  GradientDump m_dump;
  DeviceBatch m_batch;
  data::Loader m_loader;
  Timeline m_timeline;
  std::vector<double> m_local_ms;
  index_t m_step = 0;
  double m_time_s = 0, m_payload_bytes = 0, m_header_bytes = 0, m_wire_bytes = 0;
  nn::Loss m_loss;  ///< training loss since the last evaluation
};

}  // namespace gradcomp::train
