#pragma once
// Drawing by importance: probabilities that follow the losses, and the weights that keep the gradient unbiased
// (Zeng et al. 2021, Mercury).
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::sampling {

/// Of the losses that are finite; NaN where none is.
double mean_of_finite(std::span<const float> losses);

/// p[i] = (losses[i] + base) / sum. A sample whose loss is not finite is dropped: its p is 0. If all losses[i] + base
/// are 0, all samples that are not dropped have the same p; if all samples are dropped, all have the same p.
std::vector<double> probabilities(std::span<const float> losses, double base);

/// The weight 1 / (m p[i]) of each sample of the group, where m samples are not dropped; 0 if p is 0. The expected
/// value of the mean of weight x gradient over draws is then the mean gradient of these m samples.
std::vector<float> unbiased_weights(const std::vector<double>& p, std::span<const float> losses);

/// `count` draws from 0 .. p.size() - 1 with these probabilities, with replacement: a pure function of its arguments.
std::vector<index_t> draw(const std::vector<double>& p, index_t count, std::uint64_t seed, index_t step, int rank);

}  // namespace gradcomp::sampling
