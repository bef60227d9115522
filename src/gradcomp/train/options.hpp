#pragma once
// Options of a training comparison, as gradcomp-train takes them from the command line or a TOML file.
#include <string>
#include <vector>

#include "gradcomp/data/task.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::train {

/// The first seed of a tuning's trials, far above the seeds that users give. No result may use it or a later one.
inline constexpr std::uint64_t first_trial_seed = 1'000'000'000;

struct Options {
  std::string data = "shapetex10";  ///< spec of data/task.hpp
  index_t length = 0;               ///< steps of a sequence in one batch; 0: the data set's default
  std::string model = "resnet20";   ///< name of nn/model.hpp, or of nn/networks/shapes.hpp to describe
  std::string methods = "top_k:ratio=0.01,powersgd:rank=2";
  bool controls = true;  ///< add fp32, fp16, bf16 and no_exchange if the list does not have them
  index_t steps = 600;
  index_t batch = 64;  ///< samples per rank and step
  double learning_rate = 0.05;
  std::string optimiser = "sgd";                      ///< or adamw
  double momentum = 0.9;                              ///< of sgd
  std::string nesterov = "off";                       ///< off, on, or powersgd (nn::MomentumForm)
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< of adamw
  double weight_decay = 5e-4;
  std::string decay = "cosine";  ///< learning-rate schedule: cosine or constant
  index_t warmup = 0;            ///< steps of linear warm-up
  double clip = 0;               ///< largest L2 norm of the mean gradient; 0: no limit
  bool augment = false;
  double skew = 0;  ///< of labels over ranks (data::Shard); 0: none
  std::uint64_t seed = 1;
  std::string strategy = "overlapped";  ///< spec of strategy/strategy.hpp
  std::string sampler = "uniform";      ///< spec of sampling/batch_sampler.hpp
  std::string replay_slices;            ///< result file of a run whose slices are repeated; empty: none (replay.hpp)
  index_t bucket_kib = 0;               ///< 0: sizes that follow from the model
  index_t evaluate_every = 0;           ///< steps between evaluations on the validation set; 0: four in all
  index_t block = 20;                   ///< steps of one method before the next one runs
  double quality_tolerance = 0.02;      ///< Metric::limit
  std::string target;                   ///< quality to be reached, e.g. accuracy=0.9 (target.hpp); empty: none
  index_t seeds = 1;                    ///< repetitions, with seeds seed, seed + 1, ...
  index_t accumulate = 1;               ///< of the additional control fp32:accumulate=N; 1: none
  std::string rates;                    ///< file of learning rates (tune/rates.hpp); empty: none
  std::string checkpoint_folder;        ///< empty: no checkpoints (checkpoints.hpp)
  index_t checkpoint_every = 0;         ///< steps; 0: after the last one only
  std::string resume_folder;            ///< empty: from the start
  double density_tolerance = 0;         ///< of the median of achieved / target density; 0: no limit
  std::string dump_folder;              ///< folder of .npy files of gradients; empty: none are written
  std::string importance_folder;        ///< folder of .npy files of samples' losses; empty: none are written
  std::vector<index_t> dump_steps;      ///< steps at which both are written
  std::string batch_folder;             ///< folder of weights and batches (batch_dump.hpp); empty: none are written
  std::string transport = "mpi";        ///< spec of comm/registry.hpp
  std::string straggler;                ///< spec of straggler.hpp; empty: none
  double timeout = 0;                   ///< seconds after which a waiting exchange fails; 0: never
  std::string link;    ///< emulated links, e.g. 100Mbit/s,50us; several rates in turn; empty: the real one
  std::string output;  ///< result file; empty: none
  bool wide = false;   ///< tables have all columns, and rows of any length

  bool is_trial = false;  ///< of a tuning (tune/): reads no test set

  /// The same job as a trial of so many steps. A trial reads no test set, repeats no slices, has no target, evaluates
  /// only at its end and writes nothing.
  Options trial(std::uint64_t trial_seed, index_t trial_steps) const;

  /// Steps between evaluations, with the default resolved. compare() rounds the default up if needed.
  index_t evaluation_interval() const { return evaluate_every > 0 ? evaluate_every : (steps + 3) / 4; }

  /// The part of the work of one rank.
  data::Shard shard(int rank, int ranks) const { return {batch, rank, ranks, seed, augment, skew}; }

  /// How gradients are exchanged and applied.
  StrategyOptions strategy_options() const;

  /// Throws Error naming the option and what is allowed.
  void check() const;

  /// The methods to run, as one list: the controls first, then --methods without repeating them.
  std::string method_list() const;
};

}  // namespace gradcomp::train
