#pragma once
// A data set as a trainer sees it, whether its samples are images, sequences of frames or texts. It gives this rank
// training batches by step, and batches of the validation and test set by number.
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
  double skew = 0;  ///< concentration of a Dirichlet distribution per class (shards.hpp); 0: samples are dealt evenly
};

class Task {
 public:
  virtual ~Task() = default;

  virtual const std::string& name() const = 0;  ///< canonical spec without a path
  virtual const std::string& crc() const = 0;   ///< cyclic redundancy check (CRC-32) of all data, 8 hex digits
  virtual InputShape shape() const = 0;

  /// The floor: the lowest mean loss that a model can reach on the test set, in nats; 0 if it is unknown.
  virtual double loss_floor() const { return 0; }

  /// Accuracy and loss of the trivial predictor on the test set.
  virtual Trivial trivial() const = 0;

  /// Steps in which every sample is seen about once. Throws Error if the training set is too small for `shard`.
  virtual index_t steps_per_epoch(const Shard& shard) const = 0;

  /// A function that fills the batch of the step batch.step. It runs on the loader's thread, and its result is a pure
  /// function of `shard` and the step. The task must outlive it.
  virtual Loader::Fill training(const Shard& shard) const = 0;

  /// The training samples that belong to this rank before a sampler moves any, ascending; of texts, the positions of
  /// the first tokens of sequences. All ranks have the same number. Throws Error if they are fewer than shard.batch.
  virtual std::vector<index_t> samples(const Shard& shard) const = 0;

  /// Fills the batch with the training samples batch.indices, which may belong to any rank and may repeat. The caller
  /// sets batch.epoch, by which images are augmented. Sequences begin anew (batch.restart).
  virtual void fill(const Shard& shard, Batch& batch) const = 0;

  /// Bytes of one sample with its labels in the memory of the data set.
  virtual index_t sample_bytes() const = 0;

  /// Fills batch `number` of this rank from the validation or the test set, as `split` says. Returns false if there are
  /// no more batches. All ranks and numbers together give every sample of the set once.
  virtual bool held_out(Split split, const Shard& shard, index_t number, Batch& batch) const = 0;
};

}  // namespace gradcomp::data
