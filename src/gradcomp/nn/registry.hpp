#pragma once
// Every family of models of nn/models/, found by CMake (cmake/Registry.cmake). To add one, add its file
// (docs/extend.md).
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gradcomp/nn/model.hpp"

namespace gradcomp {
namespace nn {

/// What a model is made for. Its activations have memory for batches of up to `max_batch` samples.
struct ModelSetup {
  std::string name;
  InputShape input;  ///< of the kind that the family takes
  int max_batch = 1;
  Path path = Path::best;

  int height() const { return static_cast<int>(input.height); }
  int width() const { return static_cast<int>(input.width); }
  int length() const { return static_cast<int>(input.length); }
  int features() const { return static_cast<int>(input.features); }
  int classes() const { return static_cast<int>(input.classes); }
};

/// What models/<name>.cpp defines: `nn::ModelFamily gradcomp::models::<name>()`.
struct ModelFamily {
  std::string name;
  std::vector<std::string> models;
  InputShape::Kind input = InputShape::Kind::images;
  std::function<std::unique_ptr<Model<float>>(const ModelSetup&)> make;
  std::function<std::unique_ptr<Model<double>>(const ModelSetup&)> make_double;  ///< for tests against other programs
  /// The tensors of a model for images of 32 x 32 pixels and 10 classes, without making the model; empty for models of
  /// other inputs.
  std::function<Layout(const std::string& name)> shapes = {};
};

/// A family whose make(std::type_identity<T>(), setup) returns a std::unique_ptr<Model<T>> for T = float and double.
template <class Make>
ModelFamily model_family(std::string name, std::vector<std::string> models, InputShape::Kind input, Make make) {
  return {std::move(name), std::move(models), input,
          [make](const ModelSetup& setup) { return make(std::type_identity<float>(), setup); },
          [make](const ModelSetup& setup) { return make(std::type_identity<double>(), setup); }};
}

/// Names of the members of a list.
template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.emplace_back(one.name);
  return names;
}

/// The member of a list that is called `name`. There must be one.
template <class List>
const auto& named(const List& list, const std::string& name) {
  const auto* found = &*std::begin(list);
  for (const auto& one : list) {
    if (name == one.name) found = &one;
  }
  return *found;
}

}  // namespace nn

/// All families, sorted by name. Defined in the generated source of the nn layer.
const std::vector<nn::ModelFamily>& all_models();

}  // namespace gradcomp
