#pragma once
// Makes the models of nn/models/ by name.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

/// Names that make_model() knows.
std::vector<std::string> model_names();

/// A model for such an input, with memory for batches of up to `max_batch` samples (images, sequences). Throws Error
/// for an unknown name (the error says the nearest known name and lists all), for an input of another kind, or for a
/// size that the model cannot take.
template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, const InputShape& input, int max_batch,
                                     Path path = Path::best);

/// Makes a model for images with 3 channels.
template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, int height, int width, int max_batch, int classes = 10,
                                     Path path = Path::best) {
  return make_model<T>(name, InputShape::of_images(height, width, classes), max_batch, path);
}

}  // namespace gradcomp::nn
