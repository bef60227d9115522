#pragma once
// The contract of a batch sampler: it chooses the samples on which a rank trains next, and their weights. Uniform
// batches come from the data set itself (data/task.hpp); a sampler of this layer draws by importance, the loss of each
// sample. It owns the losses, averages and indices, which a checkpoint holds. Adding one is adding a file pair to
// sampling/samplers/.
//
// One step:  draw; begin; [while gradients travel: evaluate_slice ..]; finish.  Now and then: reshard.
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
  std::vector<float> weights;    ///< of each sample's loss in the mean over the batch; empty: all 1
};

/// Writes the loss of each of `samples` by a forward pass alone, under the parameters that the step began with.
using EvaluateLosses = std::function<void(std::span<const index_t> samples, std::span<float> losses)>;

/// The result of moving samples between ranks.
struct Resharded {
  index_t swaps = 0;       ///< of this rank: samples that left it, and that it got
  index_t wire_bytes = 0;  ///< that this rank sent
};

class BatchSampler {
 public:
  virtual ~BatchSampler() = default;

  /// Whether there are losses to draw from: not before the first finish().
  virtual bool ready() const = 0;
  /// The batch of `step`: a pure function of the losses, the step and the seed.
  virtual void draw(index_t step, WeightedBatch& batch) = 0;

  /// Begins the step's evaluations.
  virtual void begin(index_t step) = 0;
  /// Evaluates the losses of the next slice; returns false, and does nothing, if the step has reached its maximum.
  virtual bool evaluate_slice(const EvaluateLosses& evaluate) = 0;
  /// Evaluates the remaining slices of the step, from which the next draw() is made. Returns the step's number of
  /// slices.
  virtual index_t finish(const EvaluateLosses& evaluate) = 0;

  /// Samples of a slice, at most.
  virtual index_t slice_size() const = 0;
  /// From the next step on, each step evaluates the number of slices that `slices` gives for it, as in an earlier run.
  virtual void replay(std::vector<index_t> slices) = 0;

  /// Steps from one move of samples between ranks to the next; 0: they stay.
  virtual index_t reshard_period() const = 0;
  /// Moves samples, so that all ranks have about the same sum of losses. Collective, between steps.
  virtual Resharded reshard(const Exec& exec) = 0;

  /// The samples of this rank, in no order.
  virtual const std::vector<index_t>& samples() const = 0;
  /// The last loss of each of samples(); NaN where none is known.
  virtual const std::vector<float>& losses() const = 0;

  /// In host memory.
  virtual Memories memories() = 0;
};

/// What a sampler is made of.
struct SamplerSetup {
  std::vector<index_t> samples;  ///< of this rank
  index_t batch = 0;             ///< samples of a step
  std::uint64_t seed = 1;
  Transport& transport;        ///< carries what resharding moves
  const ParameterValues& own;  ///< the entry's parameters
};

/// What samplers/<name>.cpp defines: `SamplerEntry gradcomp::samplers::<name>()`.
struct SamplerEntry {
  std::string name;
  std::string summary;                ///< one line
  std::vector<Parameter> parameters;  ///< sampler.KEY=VALUE of a method, KEY=VALUE of --sampler
  /// Collective. Null: the batches of the data set.
  std::function<std::unique_ptr<BatchSampler>(const SamplerSetup& setup)> make;
};

/// All entries, sorted by name. Defined in the generated source of the layer.
const std::vector<SamplerEntry>& all_samplers();

/// The sampler of one method under a job: its entry and all options, defaults filled in.
struct SamplerChoice {
  const SamplerEntry& entry;
  ParameterValues own;
  std::string text() const { return entry.name + (own.canonical().empty() ? "" : ":" + own.canonical()); }
};
/// Throws Error that says what is allowed for an unknown name or option.
SamplerChoice choose_sampler(const MethodSpec& method, const std::string& job);

}  // namespace gradcomp
