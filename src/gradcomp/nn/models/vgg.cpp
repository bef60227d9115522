// VGG with batch norm, a network without shortcuts (networks/vgg.hpp).
#include "gradcomp/nn/networks/vgg.hpp"

#include "gradcomp/nn/registry.hpp"

namespace gradcomp::models {

nn::ModelFamily vgg() {
  const auto make = []<class T>(std::type_identity<T>, const nn::ModelSetup& s) -> std::unique_ptr<nn::Model<T>> {
    return std::make_unique<nn::Vgg<T>>(s.name, nn::vgg11(), s.height(), s.width(), s.max_batch, s.classes(), s.path);
  };
  auto family = nn::model_family("vgg", {"vgg11"}, InputShape::Kind::images, make);
  family.shapes = [](const std::string&) { return nn::layout_of(nn::vgg11(), 32, 32, 10); };
  return family;
}

}  // namespace gradcomp::models
