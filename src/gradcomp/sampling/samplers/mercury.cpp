#include "gradcomp/sampling/samplers/mercury.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/sampling/detail/group_sampler.hpp"
#include "gradcomp/sampling/draw.hpp"

namespace gradcomp {
namespace {

/// Loss + mean of the group, without weights: the code that Mercury's authors released, class Groupwise_Sampler.
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

SamplerEntry samplers::mercury() {
  return {"mercury",
          "drawn by loss from one group of samples in every step, evaluated while gradients travel (Mercury)",
          sampling::with_resharding(
              {Parameter::integer("slices", "0", 0, 1e6,
                                  "forward passes of a step; 0: as many as the exchange has time for"),
               Parameter::integer("min_slices", "0", 0, 1e6, "of slices=0; 0: as many as fill a batch")
                   .formerly("least_slices"),
               Parameter::integer("max_slices", "10", 1, 1e6, "of slices=0").formerly("most_slices"),
               Parameter::integer("slice", "32", 1, 65536, "samples of one forward pass"),
               Parameter::integer("every", "1", 1, 1e9, "steps for which a group is drawn from"),
               Parameter::real("smoothing", "0.5", 0, 1e3, "added to each loss, times the running mean of losses"),
               Parameter::real("decay", "0.9", 0, 0.9999, "of the running mean, per group"),
               Parameter::choice("variant", "default", {"default", "paper"},
                                 "paper: as the released code, loss + mean of the group, without weights: biased")}),
          [](const SamplerSetup& setup) -> std::unique_ptr<BatchSampler> {
            return std::make_unique<sampling::GroupSampler>(setup, group_options(setup));
          }};
}

}  // namespace gradcomp
