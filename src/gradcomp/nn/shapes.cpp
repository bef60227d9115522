#include "gradcomp/nn/shapes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/error.hpp"

namespace gradcomp::nn {
namespace {

constexpr index_t image_channels = 3, classes = 10;

/// A convolution without bias, and its batch norm.
void add_unit(Layout& layout, const std::string& prefix, const std::string& conv, const std::string& norm,
              index_t extent, index_t in, index_t out) {
  layout.add(prefix + conv + ".weight", {extent, extent, in, out});
  layout.add(prefix + norm + ".weight", {out}).add(prefix + norm + ".bias", {out});
}

struct ResNetShape {
  int stages, blocks;
  index_t channels;  ///< of the first stage; they double from stage to stage
  bool projections;  ///< shortcuts of option B
};

Layout resnet(const ResNetShape& shape) {
  Layout layout;
  add_unit(layout, "", "conv1", "bn1", 3, image_channels, shape.channels);
  index_t in = shape.channels;
  for (int stage = 0; stage < shape.stages; ++stage) {
    const index_t out = shape.channels << stage;
    for (int block = 0; block < shape.blocks; ++block) {
      const std::string prefix = fmt::format("stage{}.block{}.", stage + 1, block);
      add_unit(layout, prefix, "conv1", "bn1", 3, in, out);
      add_unit(layout, prefix, "conv2", "bn2", 3, out, out);
      if (shape.projections && in != out) add_unit(layout, prefix, "shortcut.conv", "shortcut.bn", 1, in, out);
      in = out;
    }
  }
  return layout.add("linear.weight", {in, classes}).add("linear.bias", {classes});
}

/// Weights are inputs x gates, with two biases per layer as cuDNN and PyTorch have them.
Layout lstm(int layers, index_t units, index_t vocabulary) {
  const index_t gates = 4 * units;
  Layout layout;
  layout.add("embedding.weight", {vocabulary, units});  // the decoder's too
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
  for (const SmallResNet& network : small_resnets) names.emplace_back(network.name);
  names.insert(names.end(), {"resnet20_b", "resnet18", "lstm_3x650"});
  return names;
}

Layout model_shapes(const std::string& name) {
  for (const SmallResNet& network : small_resnets) {
    if (name == network.name) return resnet({3, network.blocks, 16, false});
  }
  if (name == "resnet20_b") return resnet({3, 3, 16, true});
  if (name == "resnet18") return resnet({4, 2, 64, true});
  if (name == "lstm_3x650") return lstm(3, 650, 28869);
  throw Error(fmt::format("unknown model '{}': allowed are {}", name, fmt::join(shape_names(), ", ")));
}

}  // namespace gradcomp::nn
