// Residual networks for small images (networks/resnet.hpp): resnet8 .. resnet110, the same ones with shortcuts of
// option B as <name>_b, and resnet18.
#include "gradcomp/nn/networks/resnet.hpp"

#include "gradcomp/nn/registry.hpp"

namespace gradcomp::models {

nn::ModelFamily resnet() {
  const auto make = []<class T>(std::type_identity<T>, const nn::ModelSetup& s) -> std::unique_ptr<nn::Model<T>> {
    return std::make_unique<nn::ResNet<T>>(s.name, nn::named(nn::resnets(), s.name).spec, s.height(), s.width(),
                                           s.max_batch, s.classes(), s.path);
  };
  auto family = nn::model_family("resnet", nn::names_of(nn::resnets()), InputShape::Kind::images, make);
  family.shapes = [](const std::string& name) {
    return nn::layout_of(nn::named(nn::resnets(), name).spec, 32, 32, 10);
  };
  return family;
}

}  // namespace gradcomp::models
