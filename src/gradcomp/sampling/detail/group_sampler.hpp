#pragma once
// The sampler behind all entries. Each step evaluates the losses of a group of the rank's samples, slice by slice, and
// the next step's batch is drawn from this group. A cursor moves over a random order of the samples, so that every
// sample is in one group of each pass. A group is as large as the slices for which the step had time.
#include "gradcomp/sampling/batch_sampler.hpp"
#include "gradcomp/sampling/reshard.hpp"

namespace gradcomp::sampling {

/// Returns the probabilities of a group's samples from their losses. `mean` is the running mean of the groups' losses.
/// A sample whose loss is not finite gets 0, unless no loss is finite.
using Rule = std::function<std::vector<double>(std::span<const float> losses, double mean)>;

/// A rule with probabilities in proportion to loss + smoothing x mean, which are never 0 if some loss is above 0.
Rule smoothed(double smoothing);

struct GroupOptions {
  index_t slice = 32;                       ///< number of samples in a slice
  index_t min_slices = 1, max_slices = 10;  ///< slices of a step; if equal, their number is fixed
  index_t every = 1;                        ///< number of steps that draw from the same group
  double decay = 0.9;                       ///< weight of the old value in the running mean
  Rule rule = smoothed(0.5);
  bool weighted = true;       ///< weights are 1 / (group size x p); without weights the gradient is biased
  index_t reshard_every = 0;  ///< in steps; 0: never
  index_t reshard_max = 64;   ///< largest number of swaps of all ranks together
  double reshard_tolerance = 0.05;
};

class GroupSampler final : public BatchSampler {
 public:
  /// Collective.
  GroupSampler(const SamplerSetup& setup, const GroupOptions& options);

  bool ready() const override { return m_numbers.group > 0; }
  void draw(index_t step, WeightedBatch& batch) override;
  void begin(index_t step) override;
  bool evaluate_slice(const EvaluateLosses& evaluate) override;
  index_t finish(const EvaluateLosses& evaluate) override;
  index_t slice_size() const override { return m_options.slice; }
  void replay(std::vector<index_t> slices) override { m_replayed = std::move(slices); }
  index_t reshard_period() const override { return m_options.reshard_every; }
  Resharded reshard(const Exec& exec) override;
  const std::vector<index_t>& samples() const override { return m_samples; }
  const std::vector<float>& losses() const override { return m_losses; }
  Memories memories() override;

 private:
  /// Numbers that a checkpoint holds as they are.
  struct Numbers {
    index_t pass = 0, cursor = 0;  ///< pass over the samples, and place in its order
    index_t group = 0;             ///< size of the group from which batches are drawn
    index_t means = 0;             ///< number of groups in the running mean
    double mean = 0;               ///< running mean of the losses of groups
  };

  void take_slice();
  void close_group();
  bool numbers_fit() const;
  std::span<const float> group_losses() const {
    return {m_group_losses.data(), static_cast<std::size_t>(m_numbers.group)};
  }

  GroupOptions m_options;
  index_t m_batch;
  std::uint64_t m_seed;
  int m_rank;
  Resharder m_resharder;
  std::vector<index_t> m_samples;     ///< samples of this rank
  std::vector<float> m_losses;        ///< last loss of each sample
  std::vector<index_t> m_group;       ///< places in m_samples; as long as the largest group
  std::vector<float> m_group_losses;  ///< losses of the group when it was evaluated
  Numbers m_numbers;

  std::vector<index_t> m_order;  ///< places in m_samples, in the order of this pass
  index_t m_order_pass = -1;
  std::vector<double> m_probabilities;  ///< of the group; empty: not computed yet
  std::vector<float> m_weights;
  // Of the current step:
  index_t m_min = 0, m_max = 0, m_slices = 0;
  std::vector<index_t> m_next;  ///< places of the samples in the group that is being evaluated
  std::vector<float> m_next_losses;
  std::vector<index_t> m_slice;  ///< samples of the last slice
  std::vector<index_t> m_replayed;
};

/// `own`, followed by the parameters of resharding, which all entries share.
std::vector<Parameter> with_resharding(std::vector<Parameter> own);
void read_resharding(const ParameterValues& own, GroupOptions& options);

}  // namespace gradcomp::sampling
