#pragma once
// Tensors of a model by its name, without the network: what travels can be computed for models that do not train here.
//
//  - resnet8 .. resnet56: those of nn/resnet.hpp. resnet20_b has projections as shortcuts (He et al. 2016, section 3.3,
//    option B): a 1x1 convolution with batch norm where channels double.
//  - resnet18: the form for CIFAR of He et al.'s network for ImageNet, as PowerSGD's authors and many others train it:
//    3x3 stem, no max pool, four stages of two blocks with 64 to 512 channels, option B.
//  - lstm_3x650: PowerSGD's language model on WikiText-2 (Vogels et al. 2019, appendix): three layers of 650 units,
//    a vocabulary of 28,869, whose embedding is also the decoder's matrix.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

/// Networks that nn/resnet.hpp trains: depth = 6 blocks + 2.
struct SmallResNet {
  const char* name;
  int blocks;  ///< residual blocks of each stage
};
inline constexpr SmallResNet small_resnets[] = {
    {"resnet8", 1}, {"resnet20", 3}, {"resnet32", 5}, {"resnet44", 7}, {"resnet56", 9}};

/// Names that model_shapes() knows.
std::vector<std::string> shape_names();

/// Tensors of the model, in the order in which forward uses them, for images with 3 channels and 10 classes. Throws
/// Error for an unknown name (listing the known ones).
Layout model_shapes(const std::string& name);

}  // namespace gradcomp::nn
