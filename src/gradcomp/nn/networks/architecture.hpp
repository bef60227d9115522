#pragma once
// What the image models are made of, without their arithmetic: the one source of their tensors, for the networks that
// train (resnet.hpp, vgg.hpp) as for those who ask for shapes alone (shapes.hpp).
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

inline constexpr int image_channels = 3;

/// A convolution without bias (the batch norm's shift takes its place) and its batch norm.
struct ConvSpec {
  std::string conv, norm;   ///< names of the two, e.g. "stage1.block0.conv1" and "stage1.block0.bn1"
  int extent = 3;           ///< of the filter: 3 (padding 1) or 1
  int in = 0, out = 0;      ///< channels
  int stride = 1;           ///< 1 or 2
  bool projection = false;  ///< the shortcut of the two units in front of it, not a unit of its own
  bool pooled = false;      ///< 2x2 maximum pooling behind its ReLU

  index_t weight_count() const { return index_t(extent) * extent * in * out; }
};

/// Appends the weight, {extent, extent, in, out}, and the norm's scale (.weight) and shift (.bias).
void add_to(Layout& layout, const ConvSpec& spec);

/// Residual networks of basic blocks: a 3x3 stem, stages of blocks of two 3x3 convolutions, the first of every later
/// stage with stride 2; global average pooling, a linear classifier.
struct ResNetSpec {
  int stages = 3, blocks = 3;  ///< blocks of each stage
  int channels = 16;           ///< of the first stage; they double from stage to stage
  bool projections = false;    ///< shortcuts of option B where channels double, else option A (He et al. 2016, 4.2)

  std::vector<ConvSpec> convolutions() const;
  int last_channels() const { return channels << (stages - 1); }
  int divisor() const { return 1 << (stages - 1); }  ///< of the image's height and width
};

/// Networks of Simonyan and Zisserman 2015: stages of 3x3 convolutions, each stage ending in 2x2 maximum pooling, then
/// two hidden fully connected layers with ReLU and a linear classifier. Batch norm behind every convolution (the paper
/// had none); no dropout.
struct VggSpec {
  std::vector<std::vector<int>> stages;  ///< output channels of the convolutions of each stage
  int hidden = 4096;                     ///< units of each hidden layer

  std::vector<ConvSpec> convolutions() const;
  int last_channels() const { return stages.back().back(); }
  int divisor() const { return 1 << stages.size(); }  ///< of the image's height and width
};

/// Extents of the fully connected layers, input first and classes last. Layer i > 0 of n is called hidden<i>, but the
/// last one linear.
std::vector<int> linear_extents(const ResNetSpec& spec, int height, int width, int classes);
std::vector<int> linear_extents(const VggSpec& spec, int height, int width, int classes);

/// Appends weights {in, out} and biases of the fully connected layers.
void add_linear_layers(Layout& layout, const std::vector<int>& extents);

template <class Spec>
Layout layout_of(const Spec& spec, int height, int width, int classes) {
  Layout layout;
  for (const ConvSpec& conv : spec.convolutions()) add_to(layout, conv);
  add_linear_layers(layout, linear_extents(spec, height, width, classes));
  return layout;
}

struct NamedResNet {
  std::string name;
  ResNetSpec spec;
};

/// resnet8 .. resnet110 (depth 6 blocks + 2), the same with option B as <name>_b, and resnet18: the form for CIFAR of
/// He et al.'s network for ImageNet, as PowerSGD's authors and many others train it: 3x3 stem, no max pool, four stages
/// of two blocks with 64 to 512 channels, option B.
const std::vector<NamedResNet>& resnets();

/// vgg11: configuration A of the paper (table 1), for small images: five stages, hidden layers of 4096 units.
VggSpec vgg11();

}  // namespace gradcomp::nn
