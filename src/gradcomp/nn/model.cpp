#include "gradcomp/nn/model.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/image_models.hpp"
#include "gradcomp/nn/shapes.hpp"

namespace gradcomp::nn {

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  correct += other.correct;
  count += other.count;
  return *this;
}

std::vector<std::string> model_names() { return image_model_names(); }

template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, int height, int width, int max_batch, int classes,
                                     Path path) {
  if (auto model = make_image_model<T>(name, height, width, max_batch, classes, path)) return model;
  const auto shapes = shape_names();
  const bool has_shapes = std::find(shapes.begin(), shapes.end(), name) != shapes.end();
  throw Error(fmt::format("{}: allowed are {}",
                          has_shapes ? fmt::format("model '{}' has shapes to describe, but does not train", name)
                                     : fmt::format("unknown model '{}'", name),
                          fmt::join(model_names(), ", ")));
}

template std::unique_ptr<Model<float>> make_model(const std::string&, int, int, int, int, Path);
template std::unique_ptr<Model<double>> make_model(const std::string&, int, int, int, int, Path);

}  // namespace gradcomp::nn
