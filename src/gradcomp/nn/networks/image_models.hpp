#pragma once
// The image models by name: resnet8 .. resnet110, the same with option B as <name>_b, resnet18, vgg11
// (architecture.hpp).
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

std::vector<std::string> image_model_names();

/// Tensors of the model `name` for 32 x 32 images and 10 classes; nothing for a name that is none of the list's.
std::optional<Layout> image_model_shapes(const std::string& name);

/// The model `name`, or null for a name that is none of the list's. Throws Error for a size that it cannot take.
template <class T>
std::unique_ptr<Model<T>> make_image_model(const std::string& name, int height, int width, int max_batch, int classes,
                                           Path path);

}  // namespace gradcomp::nn
