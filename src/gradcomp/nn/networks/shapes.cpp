#include "gradcomp/nn/networks/shapes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"
#include "gradcomp/nn/registry.hpp"

namespace gradcomp::nn {
namespace {

/// The tensors of a language model with tied weights. Weights are inputs x gates, and each layer has two biases, as in
/// cuDNN and PyTorch.
Layout lstm(int layers, index_t units, index_t vocabulary) {
  const index_t gates = 4 * units;
  Layout layout;
  layout.add("embedding.weight", {vocabulary, units}, true);  // the decoder uses it too
  for (int layer = 0; layer < layers; ++layer) {
    const std::string prefix = fmt::format("lstm.layer{}.", layer + 1);
    layout.add(prefix + "input.weight", {units, gates}).add(prefix + "hidden.weight", {units, gates});
    layout.add(prefix + "input.bias", {gates}).add(prefix + "hidden.bias", {gates});
  }
  return layout.add("decoder.bias", {vocabulary});
}

}  // namespace

std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const ModelFamily& family : all_models()) {
    if (family.shapes) names.insert(names.end(), family.models.begin(), family.models.end());
  }
  names.emplace_back("lstm_3x650");
  return names;
}

Layout model_shapes(const std::string& name) {
  if (name == "lstm_3x650") return lstm(3, 650, 28869);
  for (const ModelFamily& family : all_models()) {
    const auto& models = family.models;
    if (family.shapes && std::find(models.begin(), models.end(), name) != models.end()) return family.shapes(name);
  }
  const auto names = shape_names();
  throw Error(
      fmt::format("unknown model '{}'; {}allowed: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace gradcomp::nn
