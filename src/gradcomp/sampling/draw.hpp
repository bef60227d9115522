#pragma once
// Drawing by importance: probabilities that follow the losses, and the weights that keep the gradient unbiased
// (Mercury; Zeng et al. 2021, and the code that its authors released).
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::sampling {

/// The mean of the finite losses; NaN if there are none.
double mean_of_finite(std::span<const float> losses);

/// p[i] = (losses[i] + base) / sum. A sample whose loss is not finite is dropped: its p is 0. If losses[i] + base is 0
/// for all samples that are not dropped, they get equal p. If all samples are dropped, all get equal p.
std::vector<double> probabilities(std::span<const float> losses, double base);

/// The weight 1 / (m p[i]) of each sample of the group, where m is the number of samples that are not dropped; 0 if
/// p[i] is 0. The expected value of weight x gradient over draws is then the mean gradient of these m samples.
std::vector<float> unbiased_weights(const std::vector<double>& p, std::span<const float> losses);

/// `count` draws with replacement from 0 .. p.size() - 1 with these probabilities. The result depends on the arguments
/// alone. Throws Error if p is empty.
std::vector<index_t> draw(const std::vector<double>& p, index_t count, std::uint64_t seed, index_t step, int rank);

}  // namespace gradcomp::sampling
