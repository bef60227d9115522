#include "gradcomp/nn/optimisers/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gradcomp/core/error.hpp"

namespace gradcomp::nn {

Decay decay_from_name(const std::string& name) {
  if (name == "constant") return Decay::constant;
  if (name == "cosine") return Decay::cosine;
  if (name == "step") return Decay::step;
  throw Error(fmt::format("unknown learning-rate schedule '{}': allowed are constant, cosine, step", name));
}

double LearningRate::at(index_t index) const {
  if (index < warmup) return rate * static_cast<double>(index + 1) / static_cast<double>(warmup);
  if (decay == Decay::cosine) {
    const double length = static_cast<double>(std::max<index_t>(steps - warmup, 1));
    const double part = std::min(static_cast<double>(index - warmup) / length, 1.0);
    return rate * 0.5 * (1 + std::cos(std::numbers::pi * part));
  }
  double result = rate;
  if (decay == Decay::step) {
    for (const double milestone : milestones) {
      if (static_cast<double>(index) >= milestone * static_cast<double>(steps)) result *= factor;
    }
  }
  return result;
}

}  // namespace gradcomp::nn
