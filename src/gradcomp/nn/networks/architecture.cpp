#include "gradcomp/nn/networks/architecture.hpp"

#include <fmt/format.h>

namespace gradcomp::nn {

void add_to(Layout& layout, const ConvSpec& spec) {
  layout.add(spec.conv + ".weight", {spec.extent, spec.extent, spec.in, spec.out});
  layout.add(spec.norm + ".weight", {spec.out}).add(spec.norm + ".bias", {spec.out});
}

std::vector<ConvSpec> ResNetSpec::convolutions() const {
  std::vector<ConvSpec> list{{.conv = "conv1", .norm = "bn1", .in = image_channels, .out = channels}};
  int in = channels;
  for (int stage = 0; stage < stages; ++stage) {
    const int out = channels << stage;
    for (int block = 0; block < blocks; ++block) {
      const std::string prefix = fmt::format("stage{}.block{}.", stage + 1, block);
      const int stride = in == out ? 1 : 2;
      list.push_back({.conv = prefix + "conv1", .norm = prefix + "bn1", .in = in, .out = out, .stride = stride});
      list.push_back({.conv = prefix + "conv2", .norm = prefix + "bn2", .in = out, .out = out});
      if (projections && in != out) {
        list.push_back({.conv = prefix + "shortcut.conv",
                        .norm = prefix + "shortcut.bn",
                        .extent = 1,
                        .in = in,
                        .out = out,
                        .stride = stride,
                        .projection = true});
      }
      in = out;
    }
  }
  return list;
}

std::vector<ConvSpec> VggSpec::convolutions() const {
  std::vector<ConvSpec> list;
  int in = image_channels;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (std::size_t conv = 0; conv < stages[stage].size(); ++conv) {
      const int out = stages[stage][conv];
      const std::string prefix = fmt::format("stage{}.", stage + 1);
      list.push_back({.conv = fmt::format("{}conv{}", prefix, conv + 1),
                      .norm = fmt::format("{}bn{}", prefix, conv + 1),
                      .in = in,
                      .out = out,
                      .pooled = conv + 1 == stages[stage].size()});
      in = out;
    }
  }
  return list;
}

std::vector<int> linear_extents(const ResNetSpec& spec, int, int, int classes) {
  return {spec.last_channels(), classes};
}

std::vector<int> linear_extents(const VggSpec& spec, int height, int width, int classes) {
  const int pixels = (height / spec.divisor()) * (width / spec.divisor());
  return {pixels * spec.last_channels(), spec.hidden, spec.hidden, classes};
}

void add_linear_layers(Layout& layout, const std::vector<int>& extents) {
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const std::string name = i + 1 == extents.size() ? "linear" : fmt::format("hidden{}", i);
    layout.add(name + ".weight", {extents[i - 1], extents[i]}).add(name + ".bias", {extents[i]});
  }
}

const std::vector<NamedResNet>& resnets() {
  static const auto list = [] {
    std::vector<NamedResNet> of_paper;
    for (const bool projections : {false, true}) {
      for (const int blocks : {1, 3, 5, 7, 9, 18}) {
        of_paper.push_back({fmt::format("resnet{}{}", 6 * blocks + 2, projections ? "_b" : ""),
                            {.blocks = blocks, .projections = projections}});
      }
    }
    of_paper.push_back({"resnet18", {.stages = 4, .blocks = 2, .channels = 64, .projections = true}});
    return of_paper;
  }();
  return list;
}

VggSpec vgg11() { return {{{64}, {128}, {256, 256}, {512, 512}, {512, 512}}, 4096}; }

}  // namespace gradcomp::nn
