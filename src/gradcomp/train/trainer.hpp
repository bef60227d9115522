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
#include "gradcomp/train/snapshot.hpp"

namespace gradcomp::train {

class Trainer {
 public:
  /// Same seed, same initial weights and same batches for every method. Collective.
  Trainer(const Job& job, const Contender& contender);

  /// One step. Steps of the warm-up are trained but not timed; of a contender that accumulates, `warmup` in the first
  /// step of a group holds for the whole group. Collective.
  void step(const Exec& exec, bool warmup);

  /// Evaluates on the test set, sharded over the ranks, adds a point to the curve, and compares the replicas, as step()
  /// does at the end of every epoch. Collective.
  void evaluate(const Exec& exec);

  /// Agrees the measurements over ranks and returns the result. Collective.
  MethodResult finish();

  /// All that the next step depends on and all that was measured so far. Between updates.
  void save(const Exec& exec, Snapshot& snapshot);
  /// Throws Error unless `snapshot` has all of it, in the same sizes.
  void restore(const Exec& exec, const Snapshot& snapshot);

 private:
  /// Numbers that a checkpoint holds as they are.
  struct Counters {
    index_t step = 0, skipped_steps = 0;
    double time_s = 0, payload_bytes = 0, header_bytes = 0, wire_bytes = 0;
    double test_quality = 0, test_accuracy = 0, test_loss = 0;
    nn::Loss loss;  ///< of the training since the last evaluation
    Reached reached;
    bool replicas_equal = true, target_reached = false;
  };

  StepReport train(const Exec& exec, Timeline* timeline);
  void backward(const Exec& exec, Timeline* timeline, bool updates);
  void check_replicas();
  std::vector<StateView> memory();
  /// f(name, vector) for everything that grows from step to step.
  template <class F>
  void each_history(const F& f);

  Job m_job;
  MethodResult m_result;
  nn::Schedule m_rate;
  Vector<float> m_parameters, m_gradient, m_mean, m_state;
  Vector<float> m_test_state;  ///< what evaluations may change of m_state
  nn::Sgd<float> m_sgd;
  nn::NormClip m_clip;
  Vector<float> m_sum;  ///< gradients of the steps since the last update; empty where every step updates
  std::unique_ptr<Schedule> m_schedule;
  GradientDump m_dump;
  DeviceBatch m_batch;
  std::unique_ptr<data::Loader> m_loader;
  Timeline m_timeline;
  std::vector<double> m_local_ms;
  index_t m_epoch_steps;
  double m_group_s = 0;       ///< time of the steps since the last update
  bool m_group_warm = false;  ///< whether those are not timed
  Counters m_now;
};

}  // namespace gradcomp::train
