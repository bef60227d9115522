#pragma once
// The tensors of a model by its name, without the network. So one can compute what travels without the memory for
// training, and for models that cannot be trained here:
//
//  - the image models of nn/models/, from the list of layers from which they are built.
//  - lstm_3x650: PowerSGD's language model for WikiText-2 (Vogels et al. 2019, appendix) with three LSTM layers of 650
//    units and a vocabulary of 28,869 words. Its embedding is also the matrix of the decoder.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::nn {

/// Names that model_shapes() knows.
std::vector<std::string> shape_names();

/// Tensors of the model, in the order in which the forward pass uses them; of an image model, for images of 32 x 32
/// pixels with 3 channels and 10 classes. Throws Error for an unknown name that lists the known ones.
Layout model_shapes(const std::string& name);

}  // namespace gradcomp::nn
