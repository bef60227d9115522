#include "gradcomp/sampling/samplers/importance.hpp"

#include "gradcomp/sampling/detail/group_sampler.hpp"

namespace gradcomp {

SamplerEntry samplers::importance() {
  return {"importance", "drawn by loss from all samples of the rank, with weights that keep the gradient unbiased",
          sampling::with_resharding(
              {Parameter::integer("every", "10", 1, 1e9, "steps from one evaluation of all losses to the next"),
               Parameter::integer("slice", "32", 1, 65536, "samples of one forward pass"),
               Parameter::real("smoothing", "0.5", 0, 1e3, "added to each loss, times the mean loss")}),
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

}  // namespace gradcomp
