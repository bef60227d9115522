// importance: sampling by the loss from all samples of the rank, whose losses are computed anew every few steps. It is
// the reference without groups for mercury (Zeng et al. 2021): the lowest variance, but many forward passes.
#include "gradcomp/sampling/batch_sampler.hpp"
#include "gradcomp/sampling/detail/group_sampler.hpp"

namespace gradcomp::samplers {

SamplerEntry importance() {
  return {"importance", "draws samples by their loss from all samples of the rank; weights keep the gradient unbiased",
          sampling::with_resharding(
              {Parameter::integer("every", "10", 1, 1e9, "steps from one evaluation of all losses to the next"),
               Parameter::integer("slice", "32", 1, 65536, "samples in one forward pass of importance"),
               Parameter::real("smoothing", "0.5", 0, 1e3, "constant added to each loss, in units of the mean loss")}),
          [](const SamplerSetup& setup) -> std::unique_ptr<BatchSampler> {
            sampling::GroupOptions options;
            options.every = setup.own.integer("every");
            options.slice = setup.own.integer("slice");
            options.rule = sampling::smoothed(setup.own.real("smoothing"));
            options.decay = 0;  // the mean is that of all samples
            options.min_slices = options.max_slices = std::ssize(setup.samples);
            sampling::read_resharding(setup.own, options);
            return std::make_unique<sampling::GroupSampler>(setup, options);
          }};
}

}  // namespace gradcomp::samplers
