#include "gradcomp/nn/model.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"
#include "gradcomp/nn/networks/image_models.hpp"
#include "gradcomp/nn/networks/language_models.hpp"
#include "gradcomp/nn/networks/lstm_classifier.hpp"

namespace gradcomp::nn {

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  correct += other.correct;
  count += other.count;
  return *this;
}

namespace {

/// Throws Error unless `input` is of the kind that model `name` takes.
void require_kind(const std::string& name, const InputShape& input, InputShape::Kind kind) {
  InputShape taken;
  taken.kind = kind;
  require(input.kind == kind, "model '{}' takes {}, but the data are {}", name, taken.kind_name(), input.kind_name());
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> all;
  for (const auto& names : {image_model_names(), language_model_names(), frame_model_names()}) {
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, const InputShape& input, int max_batch, Path path) {
  const auto is_in = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const int length = static_cast<int>(input.length), classes = static_cast<int>(input.classes);
  if (is_in(image_model_names())) {
    require_kind(name, input, InputShape::Kind::images);
    return make_image_model<T>(name, static_cast<int>(input.height), static_cast<int>(input.width), max_batch, classes,
                               path);
  }
  if (is_in(language_model_names())) {
    require_kind(name, input, InputShape::Kind::tokens);
    return make_language_model<T>(name, classes, length, max_batch, path);
  }
  if (is_in(frame_model_names())) {
    require_kind(name, input, InputShape::Kind::frames);
    return make_frame_model<T>(name, static_cast<int>(input.features), length, max_batch, classes, path);
  }
  throw Error(fmt::format("unknown model '{}'; {}allowed: {}", name, did_you_mean(name, model_names()),
                          fmt::join(model_names(), ", ")));
}

template std::unique_ptr<Model<float>> make_model(const std::string&, const InputShape&, int, Path);
template std::unique_ptr<Model<double>> make_model(const std::string&, const InputShape&, int, Path);

}  // namespace gradcomp::nn
