#pragma once
// The sampler behind all entries: in a step it evaluates the losses of a group of the rank's samples, slice by slice,
// and the next step's batch is drawn from that group. A cursor slides over a random order of the samples, so that every
// sample is in one group of each pass; a group is as large as the slices that the step had time for.
#include "gradcomp/sampling/batch_sampler.hpp"
#include "gradcomp/sampling/reshard.hpp"

namespace gradcomp::sampling {

/// Probabilities of a group's samples from their losses; `mean`: the running mean of the groups' losses. A sample whose
/// loss is not finite has 0 unless all are so.
using Rule = std::function<std::vector<double>(std::span<const float> losses, double mean)>;

/// loss + smoothing x mean: never 0 where some loss is above 0.
Rule smoothed(double smoothing);

struct GroupOptions {
  index_t slice = 32;                       ///< samples
  index_t min_slices = 1, max_slices = 10;  ///< of a step; equal: always as many
  index_t every = 1;                        ///< steps for which a group is drawn from
  double decay = 0.9;                       ///< of the running mean
  Rule rule = smoothed(0.5);
  bool weighted = true;       ///< by 1 / (group p); otherwise the gradient is biased
  index_t reshard_every = 0;  ///< steps; 0: never
  index_t reshard_max = 64;   ///< swaps of all ranks
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
    index_t pass = 0, cursor = 0;  ///< of the order of samples
    index_t group = 0;             ///< members of the group that is drawn from
    index_t means = 0;             ///< groups in the running mean
    double mean = 0;               ///< running mean of their losses
  };

  void take_slice();
  void close_group();
  std::span<const float> group_losses() const {
    return {m_group_losses.data(), static_cast<std::size_t>(m_numbers.group)};
  }

  GroupOptions m_options;
  index_t m_batch;
  std::uint64_t m_seed;
  int m_rank;
  Resharder m_resharder;
  std::vector<index_t> m_samples;     ///< of this rank
  std::vector<float> m_losses;        ///< the last one of each
  std::vector<index_t> m_group;       ///< places in m_samples; room for the largest group
  std::vector<float> m_group_losses;  ///< as they were when they were drawn from first
  Numbers m_numbers;

  std::vector<index_t> m_order;  ///< of places, in this pass
  index_t m_order_pass = -1;
  std::vector<double> m_probabilities;  ///< of the group; empty: not computed yet
  std::vector<float> m_weights;
  // Of the step under way:
  index_t m_min = 0, m_max = 0, m_slices = 0;
  std::vector<index_t> m_next;  ///< places of the group that is being evaluated
  std::vector<float> m_next_losses;
  std::vector<index_t> m_slice;  ///< samples
  std::vector<index_t> m_replayed;
};

/// Parameters of resharding, which all entries share, behind an entry's own.
std::vector<Parameter> with_resharding(std::vector<Parameter> own);
void read_resharding(const ParameterValues& own, GroupOptions& options);

}  // namespace gradcomp::sampling
