#pragma once
// The contract of a batch sampler: it chooses the samples on which a rank trains next, and their weights. Uniform
// batches come from the data set itself (data/task.hpp). The samplers of this layer draw by importance, the loss of
// each sample. A sampler owns the losses, averages and indices, which a checkpoint holds. To add one, add a file
// to sampling/samplers/ (docs/extend.md).
//
// One step:  draw(), begin(), [while gradients travel: evaluate_slice() ..], finish(); in some steps also reshard().
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/core/memories.hpp"
#include "gradcomp/core/options.hpp"
#include "gradcomp/exchange/method_spec.hpp"

namespace gradcomp {

/// The samples of one step, drawn with replacement.
struct WeightedBatch {
  std::vector<index_t> samples;  ///< numbers in the training set
  std::vector<float> weights;    ///< weight of each sample's loss in the mean over the batch; empty: all are 1
};

/// Writes the loss of each of `samples`, by a forward pass alone, with the parameters at the beginning of the step.
using EvaluateLosses = std::function<void(std::span<const index_t> samples, std::span<float> losses)>;

/// The result of moving samples between ranks.
struct Resharded {
  index_t swaps = 0;       ///< number of samples that left this rank, which is also the number that it received
  index_t wire_bytes = 0;  ///< bytes that this rank sent
};

class BatchSampler {
 public:
  virtual ~BatchSampler() = default;

  /// Whether there are losses to draw from. There are none before the first finish().
  virtual bool ready() const = 0;
  /// Draws the batch of `step`, which depends only on the losses, the step and the seed.
  virtual void draw(index_t step, WeightedBatch& batch) = 0;

  /// Begins the evaluations of a step.
  virtual void begin(index_t step) = 0;
  /// Evaluates the losses of the next slice. If the step has its largest number of slices, does nothing and returns
  /// false.
  virtual bool evaluate_slice(const EvaluateLosses& evaluate) = 0;
  /// Evaluates the remaining slices of the step. The next draw() is made from the slices of this step. Returns their
  /// number.
  virtual index_t finish(const EvaluateLosses& evaluate) = 0;

  /// Largest number of samples in a slice.
  virtual index_t slice_size() const = 0;
  /// From the next step on, each step evaluates as many slices as `slices` gives for it, so that an earlier run can be
  /// repeated.
  virtual void replay(std::vector<index_t> slices) = 0;

  /// Steps from one move of samples between ranks to the next; 0: samples do not move.
  virtual index_t reshard_period() const = 0;
  /// Moves samples so that all ranks have about the same sum of losses. Collective; call it between steps.
  virtual Resharded reshard(const Exec& exec) = 0;

  /// The samples of this rank, in any order.
  virtual const std::vector<index_t>& samples() const = 0;
  /// The last loss of each of samples(); NaN if none is known.
  virtual const std::vector<float>& losses() const = 0;

  /// They lie in host memory.
  virtual Memories memories() = 0;
};

/// What a sampler is made of.
struct SamplerSetup {
  std::vector<index_t> samples;  ///< of this rank
  index_t batch = 0;             ///< number of samples in a step
  std::uint64_t seed = 1;
  Transport& transport;        ///< carries samples that move between ranks
  const ParameterValues& own;  ///< values of the entry's parameters
};

/// What samplers/<name>.cpp defines: `SamplerEntry gradcomp::samplers::<name>()`.
struct SamplerEntry {
  std::string name;
  std::string summary;                ///< one line
  std::vector<Parameter> parameters;  ///< sampler.KEY=VALUE of a method, KEY=VALUE of --sampler
  /// Collective. Null if the batches are those of the data set.
  std::function<std::unique_ptr<BatchSampler>(const SamplerSetup& setup)> make;
};

/// All entries, sorted by name. The generated source of the layer defines it.
const std::vector<SamplerEntry>& all_samplers();

/// The sampler of one method in a job: its entry and all options, with defaults filled in.
struct SamplerChoice {
  const SamplerEntry& entry;
  ParameterValues own;
  std::string text() const { return entry.name + (own.canonical().empty() ? "" : ":" + own.canonical()); }
};
/// The choice of the method, or `job` if the method leaves it to the job. For an unknown name or option, throws an
/// Error that says what is allowed.
SamplerChoice choose_sampler(const MethodSpec& method, const std::string& job);

}  // namespace gradcomp
