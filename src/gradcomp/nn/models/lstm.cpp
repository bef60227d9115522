// Language models of stacked LSTMs (networks/lstm_language_model.hpp).
#include "gradcomp/nn/networks/lstm_language_model.hpp"
#include "gradcomp/nn/registry.hpp"

namespace gradcomp::models {

nn::ModelFamily lstm() {
  const auto make = []<class T>(std::type_identity<T>, const nn::ModelSetup& s) -> std::unique_ptr<nn::Model<T>> {
    return std::make_unique<nn::LstmLanguageModel<T>>(nn::named(nn::lstm_networks, s.name), s.classes(), s.length(),
                                                      s.max_batch, s.path);
  };
  return nn::model_family("lstm", nn::names_of(nn::lstm_networks), InputShape::Kind::tokens, make);
}

}  // namespace gradcomp::models
