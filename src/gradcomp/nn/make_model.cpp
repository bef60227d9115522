#include "gradcomp/nn/make_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"
#include "gradcomp/nn/registry.hpp"

namespace gradcomp::nn {
namespace {

/// Throws Error unless `input` is of `kind`, which model `name` takes.
void require_kind(const std::string& name, const InputShape& input, InputShape::Kind kind) {
  InputShape taken;
  taken.kind = kind;
  require(input.kind == kind, "model '{}' takes {}, but the data are {}", name, taken.kind_name(), input.kind_name());
}

}  // namespace

std::vector<std::string> model_names() {
  using Kind = InputShape::Kind;
  std::vector<std::string> all;
  for (const Kind kind : {Kind::images, Kind::tokens, Kind::frames}) {
    for (const ModelFamily& family : all_models()) {
      if (family.input == kind) all.insert(all.end(), family.models.begin(), family.models.end());
    }
  }
  return all;
}

template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, const InputShape& input, int max_batch, Path path) {
  for (const ModelFamily& family : all_models()) {
    if (std::find(family.models.begin(), family.models.end(), name) == family.models.end()) continue;
    require_kind(name, input, family.input);
    const ModelSetup setup{name, input, max_batch, path};
    if constexpr (std::is_same_v<T, float>) return family.make(setup);
    if constexpr (std::is_same_v<T, double>) return family.make_double(setup);
  }
  const auto names = model_names();
  throw Error(
      fmt::format("unknown model '{}'; {}allowed: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

template std::unique_ptr<Model<float>> make_model(const std::string&, const InputShape&, int, Path);
template std::unique_ptr<Model<double>> make_model(const std::string&, const InputShape&, int, Path);

}  // namespace gradcomp::nn
