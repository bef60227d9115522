#pragma once
// Drawing by importance: probabilities that follow the losses, and the weights that keep the gradient unbiased
// (Zeng et al. 2021, Mercury; the card's section 4).
#include <cstdint>
#include <span>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::sampling {

/// Of the losses that are finite; NaN where none is.
double mean_of_finite(std::span<const float> losses);

/// p[i] = (losses[i] + base) / sum. A sample whose loss is not finite is dropped: its p is 0. Where all of these sums
/// are 0, the samples that are not dropped have equal p; where all are dropped, all have.
std::vector<double> probabilities(std::span<const float> losses, double base);

/// Of each sample of the group, 1 / (m p[i]) with m samples that are not dropped: the mean over draws of weight x
/// gradient has the mean gradient of these m as its expected value. 0 where p is 0.
std::vector<float> unbiased_weights(const std::vector<double>& p, std::span<const float> losses);

/// `count` draws from 0 .. p.size() - 1 with these probabilities, with replacement: a pure function of its arguments.
std::vector<index_t> draw(const std::vector<double>& p, index_t count, std::uint64_t seed, index_t step, int rank);

}  // namespace gradcomp::sampling
