// Classifiers of sequences of frames with stacked LSTMs (networks/lstm_classifier.hpp).
#include "gradcomp/nn/networks/lstm_classifier.hpp"
#include "gradcomp/nn/registry.hpp"

namespace gradcomp::models {

nn::ModelFamily frames_lstm() {
  const auto make = []<class T>(std::type_identity<T>, const nn::ModelSetup& s) -> std::unique_ptr<nn::Model<T>> {
    return std::make_unique<nn::LstmClassifier<T>>(nn::named(nn::frame_networks, s.name), s.features(), s.length(),
                                                   s.max_batch, s.classes(), s.path);
  };
  return nn::model_family("frames_lstm", nn::names_of(nn::frame_networks), InputShape::Kind::frames, make);
}

}  // namespace gradcomp::models
