// Language models of Transformer blocks (networks/transformer_language_model.hpp).
#include "gradcomp/nn/networks/transformer_language_model.hpp"
#include "gradcomp/nn/registry.hpp"

namespace gradcomp::models {

nn::ModelFamily transformer() {
  const auto make = []<class T>(std::type_identity<T>, const nn::ModelSetup& s) -> std::unique_ptr<nn::Model<T>> {
    return std::make_unique<nn::TransformerLanguageModel<T>>(nn::named(nn::transformer_networks, s.name), s.classes(),
                                                             s.length(), s.max_batch, s.path);
  };
  return nn::model_family("transformer", nn::names_of(nn::transformer_networks), InputShape::Kind::tokens, make);
}

}  // namespace gradcomp::models
