#pragma once
// One method's training run: its own parameters, buffers (batch-norm statistics, hidden state), data and strategy.
// Several trainers share one model object, which only holds the activations.
#include <memory>
#include <optional>
#include <vector>

#include "gradcomp/measure/timeline.hpp"
#include "gradcomp/nn/optimisers/learning_rate.hpp"
#include "gradcomp/strategy/strategy.hpp"
#include "gradcomp/train/batch_dump.hpp"
#include "gradcomp/train/batches.hpp"
#include "gradcomp/train/evaluation.hpp"
#include "gradcomp/train/gradient_dump.hpp"
#include "gradcomp/train/job.hpp"
#include "gradcomp/train/loss_dump.hpp"
#include "gradcomp/train/result.hpp"
#include "gradcomp/train/snapshot.hpp"
#include "gradcomp/train/straggler.hpp"

namespace gradcomp::train {

class Trainer {
 public:
  /// Same seed, same initial weights and same batches for every method. Collective.
  Trainer(const Job& job, const Contender& contender);

  /// One step. An untimed step trains like any other. `untimed` in the first step of a strategy's period holds for the
  /// whole period. Collective.
  void step(const Exec& exec, bool untimed);

  /// Ranks of a strategy that is not in step come together, as they must before they wait for each other elsewhere. The
  /// time counts as the last step's, so that the steps since the last meeting add up to what all ranks took. Nothing
  /// with other strategies. Collective.
  void meet(const Exec& exec);

  /// Whether the run ended, because some rank's values were not finite. Equal on all ranks. Call no step() or
  /// evaluate() then.
  bool ended() const { return m_now.diverged_at >= 0; }

  /// From now on the batches are kept for --dump-batches; finish() writes them. Before the first step. Throws
  /// AgreedError if some rank only serves, and so has no batches.
  void dump_batches(const Exec& exec);

  /// The number of the emulated link that the steps from now on run over.
  void over_link(index_t number) { m_link = number; }

  /// The energy and the bytes that the machine counts from begin_counting() to end_counting() are this method's. Whole
  /// blocks: counters of energy move ten times a second (NVML) to a thousand times (RAPL). Nothing happens without a
  /// meter, or without an interface, in the job.
  void begin_counting();
  void end_counting();

  /// Steps from one exchange to the next.
  index_t period() const { return m_result.period; }
  /// Evaluations come after a multiple of so many steps.
  index_t evaluation_period() const { return m_strategy->evaluation_period(); }
  /// Throws AgreedError unless the job's steps and blocks are multiples of the period, and an interval between
  /// evaluations that the user chose is a multiple of evaluation_period().
  void check_period() const;

  /// Evaluates on the validation set, sharded over the ranks, adds a point to the curve, and compares the replicas, as
  /// step() does at the end of every epoch. A loss that is not finite ends the run. Collective.
  void evaluate(const Exec& exec);

  /// Evaluates on the test set (not in the trials of a tuning, which never see it), agrees the measurements over ranks
  /// and returns the result. Collective.
  MethodResult finish(const Exec& exec);

  /// Finishes what the strategy still has in progress. Collective.
  void drain(const Exec& exec);

  /// All that the next step depends on and all that was measured so far. After drain(); it does not communicate. Names
  /// of arrays begin with `prefix`, which no other trainer of the snapshot has.
  void save(const Exec& exec, Snapshot& snapshot, const std::string& prefix);
  /// Throws Error unless `snapshot` has all of it, in the same sizes and with numbers that a run has after `step`
  /// steps.
  void restore(const Exec& exec, const Snapshot& snapshot, const std::string& prefix, index_t step);

 private:
  /// Numbers that a checkpoint holds as they are.
  struct Counters {
    index_t step = 0;
    index_t diverged_at = -1;  ///< number of the step, counted from 1, that ended the run; -1: none
    double time_s = 0, payload_bytes = 0, header_bytes = 0, wire_bytes = 0;
    double validation_quality = 0, validation_loss = 0;
    nn::Loss loss;  ///< of the training since the last evaluation
    Reached reached;
    double joules = 0;                                       ///< that this rank counted in energy_steps
    index_t energy_steps = 0;                                ///< steps of which the energy is known
    index_t counted_bytes = 0, counted_steps = 0;            ///< that this rank's interface sent; in so many steps
    index_t stale_pushes = 0, staleness = 0, max_stale = 0;  ///< that this rank's server applied: sum and maximum
    bool replicas_equal = true, target_reached = false;
  };

  /// The job, once the strategy has said which ranks train.
  const Job& settled_job();
  bool trains_now();
  void end_if_agreed();
  StepReport train(const Exec& exec, Timeline* timeline);
  void forward(const Exec& exec, const nn::Batch<float>& batch, Timeline* timeline);
  void backward(const Exec& exec, Timeline* timeline);
  nn::Loss evaluate_on(const Exec& exec, data::Split split);
  void check_replicas(const Exec& exec);
  std::optional<double> joules_per_step();
  std::optional<double> counted_bytes_per_step();
  void reshard(const Exec& exec);
  void count(const StepReport& report);
  void add_waiting();
  void add_sampling();
  Memories memory();
  bool counters_fit(index_t step) const;
  /// f(name, vector) for everything that grows from step to step.
  template <class F>
  void each_history(const F& f);

  Job m_job;
  MethodResult m_result;
  nn::LearningRate m_rate;
  Vector<float> m_parameters, m_gradient, m_buffers;
  Vector<float> m_test_buffers;  ///< what evaluations may change of m_buffers
  std::unique_ptr<Strategy> m_strategy;
  GradientDump m_dump;
  LossDump m_loss_dump;
  std::optional<BatchDump> m_batch_dump;
  Straggler m_straggler;
  nn::DeviceBatch m_held_out;
  Batches m_batches;
  Timeline m_timeline;
  std::vector<double> m_local_ms;
  index_t m_link = 0;
  index_t m_epoch_steps;
  bool m_met = true;              ///< no step since meet()
  double m_period_s = 0;          ///< time of the steps of this period
  bool m_period_untimed = false;  ///< whether the steps of this period are not timed
  std::optional<double> m_joules_begin;
  index_t m_count_begin = 0;  ///< the step at which counters were read
  index_t m_bytes_begin = 0;
  Counters m_now;
};

}  // namespace gradcomp::train
