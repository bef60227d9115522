#pragma once
// What the image models consist of, without their arithmetic. Both the networks that train (resnet.hpp, vgg.hpp) and
// model_shapes() (shapes.hpp) take the list of their tensors from here.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

inline constexpr int image_channels = 3;

/// A convolution and its batch norm, whose shift takes the place of a bias.
struct ConvSpec {
  std::string conv, norm;   ///< names of the two, e.g. "stage1.block0.conv1" and "stage1.block0.bn1"
  int extent = 3;           ///< extent of the filter: 3 (with padding 1) or 1
  int in = 0, out = 0;      ///< numbers of input and output channels
  int stride = 1;           ///< 1 or 2
  bool projection = false;  ///< whether it is the shortcut of the two preceding units instead of a unit
  bool pooled = false;      ///< whether a 2x2 maximum pooling follows its ReLU

  index_t weight_count() const { return index_t(extent) * extent * in * out; }
};

/// Appends the weight {extent, extent, in, out}, and the scale (.weight) and shift (.bias) of the norm, {out} each.
void add_to(Layout& layout, const ConvSpec& spec);

/// Residual networks of basic blocks. A 3x3 convolution comes first, then stages of blocks of two 3x3 convolutions,
/// then global average pooling and a linear classifier. Every stage but the first one begins with stride 2.
struct ResNetSpec {
  int stages = 3, blocks = 3;  ///< blocks: number in each stage
  int channels = 16;           ///< channels of the first stage; they double from stage to stage
  bool projections = false;    ///< where channels double: shortcuts of option B instead of A (He et al. 2016, 3.3, 4.2)

  std::vector<ConvSpec> convolutions() const;
  int last_channels() const { return channels << (stages - 1); }
  int divisor() const { return 1 << (stages - 1); }  ///< an image's height and width must be multiples of it
};

/// Networks of Simonyan and Zisserman 2015: stages of 3x3 convolutions, each of which ends with 2x2 maximum pooling,
/// then two hidden fully connected layers with ReLU and a linear classifier. Unlike in the paper, batch norm follows
/// every convolution, and there is no dropout.
struct VggSpec {
  std::vector<std::vector<int>> stages;  ///< output channels of the convolutions of each stage
  int hidden = 4096;                     ///< units of each hidden layer

  std::vector<ConvSpec> convolutions() const;
  int last_channels() const { return stages.back().back(); }
  int divisor() const { return 1 << stages.size(); }  ///< an image's height and width must be multiples of it
};

/// Extents of the fully connected layers, from the input to the classes. Layer i = 1, 2, ... is called hidden<i>, and
/// the last one linear.
std::vector<int> linear_extents(const ResNetSpec& spec, int height, int width, int classes);
std::vector<int> linear_extents(const VggSpec& spec, int height, int width, int classes);

/// Appends weights {in, out} and biases of the fully connected layers.
void add_linear_layers(Layout& layout, const std::vector<int>& extents);

/// All tensors of a network, in the order of the forward pass.
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

/// resnet8 .. resnet110 (6 blocks + 2 layers), the same ones with option B as <name>_b, and resnet18. The latter is the
/// form for CIFAR of He et al.'s network for ImageNet, which PowerSGD's authors and many others train: a 3x3
/// convolution without maximum pooling first, then four stages of two blocks with 64 to 512 channels, with option B.
const std::vector<NamedResNet>& resnets();

/// vgg11: configuration A of the paper (table 1), with five stages and hidden layers of 4096 units.
VggSpec vgg11();

}  // namespace gradcomp::nn
