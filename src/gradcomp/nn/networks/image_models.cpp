#include "gradcomp/nn/networks/image_models.hpp"

#include "gradcomp/nn/networks/resnet.hpp"
#include "gradcomp/nn/networks/vgg.hpp"

namespace gradcomp::nn {
namespace {

constexpr const char* vgg11_name = "vgg11";
constexpr int extent_of_shapes = 32, classes_of_shapes = 10;

}  // namespace

std::vector<std::string> image_model_names() {
  std::vector<std::string> names;
  for (const NamedResNet& network : resnets()) names.push_back(network.name);
  names.emplace_back(vgg11_name);
  return names;
}

std::optional<Layout> image_model_shapes(const std::string& name) {
  const auto shapes = [](const auto& spec) {
    return layout_of(spec, extent_of_shapes, extent_of_shapes, classes_of_shapes);
  };
  for (const NamedResNet& network : resnets()) {
    if (name == network.name) return shapes(network.spec);
  }
  if (name == vgg11_name) return shapes(vgg11());
  return std::nullopt;
}

template <class T>
std::unique_ptr<Model<T>> make_image_model(const std::string& name, int height, int width, int max_batch, int classes,
                                           Path path) {
  for (const NamedResNet& network : resnets()) {
    if (name != network.name) continue;
    return std::make_unique<ResNet<T>>(name, network.spec, height, width, max_batch, classes, path);
  }
  if (name == vgg11_name) return std::make_unique<Vgg<T>>(name, vgg11(), height, width, max_batch, classes, path);
  return nullptr;
}

template std::unique_ptr<Model<float>> make_image_model(const std::string&, int, int, int, int, Path);
template std::unique_ptr<Model<double>> make_image_model(const std::string&, int, int, int, int, Path);

}  // namespace gradcomp::nn
