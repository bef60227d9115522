#pragma once
// Tensors of a model by its name, without the network: what travels can be computed without the memory to train it,
// and for models that do not train here.
//
//  - the image models of nn/models/, from the same list of layers that they are built from.
//  - lstm_3x650: PowerSGD's language model on WikiText-2 (Vogels et al. 2019, appendix): three layers of 650 units,
//    a vocabulary of 28,869, whose embedding is also the decoder's matrix.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

/// Names that model_shapes() knows.
std::vector<std::string> shape_names();

/// Tensors of the model, in the order in which forward uses them, for 32 x 32 images with 3 channels and
/// 10 classes. Throws Error for an unknown name (listing the known ones).
Layout model_shapes(const std::string& name);

}  // namespace gradcomp::nn
