#pragma once
// A data set as trainers see it, whatever its samples are: training batches of this rank by step, batches of the
// validation and of the test set by number.
#include <cstdint>
#include <memory>
#include <string>

#include "gradcomp/core/input_shape.hpp"
#include "gradcomp/data/loader.hpp"
#include "gradcomp/data/split.hpp"
#include "gradcomp/data/trivial.hpp"

namespace gradcomp::data {

/// This rank's part of the work.
struct Shard {
  index_t batch = 0;  ///< samples (images, sequences) per rank and step
  int rank = 0, ranks = 1;
  std::uint64_t seed = 1;
  bool augment = false;
  double skew = 0;  ///< label skew: concentration of a Dirichlet distribution per class; 0: dealt evenly
};

class Task {
 public:
  virtual ~Task() = default;

  virtual const std::string& name() const = 0;  ///< canonical spec without a path
  virtual const std::string& crc() const = 0;   ///< of everything, 8 hex digits
  virtual InputShape shape() const = 0;

  /// Lowest mean loss that any model can reach on the test set, in nats; 0 where nobody knows.
  virtual double loss_floor() const { return 0; }

  /// What the predictor that looks at no input reaches on the test set.
  virtual Trivial trivial() const = 0;

  /// Steps after which every sample was seen about once. Throws Error where the training set is too small for `shard`.
  virtual index_t steps_per_epoch(const Shard& shard) const = 0;

  /// Fills the batch of `step` (batch.step is set) on the loader's thread: a pure function of (shard, step). The task
  /// must outlive it.
  virtual Loader::Fill training(const Shard& shard) const = 0;

  /// The training samples that belong to this rank as long as nobody moves them, ascending: as many on every rank. Of
  /// texts: where each sequence begins. Throws Error where they are fewer than shard.batch.
  virtual std::vector<index_t> samples(const Shard& shard) const = 0;

  /// Fills the batch with the training samples batch.indices, which may be any and repeat; batch.epoch (augmentation)
  /// is set. Texts begin anew.
  virtual void fill(const Shard& shard, Batch& batch) const = 0;

  /// Bytes of one sample with its labels, as the data set holds it.
  virtual index_t sample_bytes() const = 0;

  /// Fills batch `number` of this rank from the validation or the test set, as `split` says; false where there is none
  /// left. Over all ranks and numbers every sample of the set comes once. No training batch has one of either.
  virtual bool held_out(Split split, const Shard& shard, index_t number, Batch& batch) const = 0;
};

}  // namespace gradcomp::data
