// mercury (Mercury; Zeng et al. 2021): importance of one group of samples per step, computed in slices while gradients
// travel. So a slow link gives large groups for free, and a fast link small groups. Samples move between ranks so that
// all ranks have the same sum of importance. The full paper is not public: docs/importance-sampling.md says what comes
// from it and from the code that its authors released, and what is ours.
#include <algorithm>
#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"
#include "gradcomp/sampling/detail/group_sampler.hpp"
#include "gradcomp/sampling/draw.hpp"

namespace gradcomp::samplers {
namespace {

/// Importance = loss + mean of the group; it is used without weights. This is the class Groupwise_Sampler of the code
/// that Mercury's authors released.
std::vector<double> released(std::span<const float> losses, double /*running_mean*/) {
  const double mean = sampling::mean_of_finite(losses);
  return sampling::probabilities(losses, std::isnan(mean) ? 0 : mean);
}

sampling::GroupOptions group_options(const SamplerSetup& setup) {
  const ParameterValues& own = setup.own;
  sampling::GroupOptions options;
  options.slice = own.integer("slice");
  options.every = own.integer("every");
  options.decay = own.real("decay");
  options.weighted = own.text("variant") != "paper";
  options.rule = options.weighted ? sampling::smoothed(own.real("smoothing")) : sampling::Rule(released);
  const index_t fixed = own.integer("slices"), batch_slices = (setup.batch + options.slice - 1) / options.slice;
  options.min_slices = fixed > 0 ? fixed : own.integer("min_slices");
  if (options.min_slices == 0) options.min_slices = batch_slices;
  options.max_slices = fixed > 0 ? fixed : std::max(own.integer("max_slices"), options.min_slices);
  sampling::read_resharding(own, options);
  return options;
}

}  // namespace

SamplerEntry mercury() {
  return {
      "mercury",
      "draws samples by their loss from one group in every step; computes losses while gradients are exchanged "
      "(Mercury)",
      sampling::with_resharding(
          {Parameter::integer("slices", "0", 0, 1e6,
                              "forward passes of importance in a step; 0: as many as fit into the time of the "
                              "exchange"),
           Parameter::integer("min_slices", "0", 0, 1e6,
                              "slices=0: smallest number of slices; 0: as many as fill a batch")
               .formerly("least_slices"),
           Parameter::integer("max_slices", "10", 1, 1e6, "slices=0: largest number of slices").formerly("most_slices"),
           Parameter::integer("slice", "32", 1, 65536, "samples in one forward pass of importance"),
           Parameter::integer("every", "1", 1, 1e9, "number of steps that draw from the same group"),
           Parameter::real("smoothing", "0.5", 0, 1e3,
                           "constant added to each loss, in units of the running mean of losses"),
           Parameter::real("decay", "0.9", 0, 0.9999, "weight of the old value in the running mean of each group"),
           Parameter::choice("variant", "default", {"default", "paper"},
                             "paper: as in the released code: importance is loss + mean of the group, without "
                             "weights, so it is biased")}),
      [](const SamplerSetup& setup) -> std::unique_ptr<BatchSampler> {
        return std::make_unique<sampling::GroupSampler>(setup, group_options(setup));
      }};
}

}  // namespace gradcomp::samplers
