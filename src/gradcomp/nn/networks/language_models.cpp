#include "gradcomp/nn/networks/language_models.hpp"

#include <fmt/ranges.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/networks/lstm_language_model.hpp"
#include "gradcomp/nn/networks/transformer_language_model.hpp"

namespace gradcomp::nn {

std::vector<std::string> language_model_names() {
  std::vector<std::string> names;
  for (const LstmNetwork& network : lstm_networks) names.emplace_back(network.name);
  for (const TransformerNetwork& network : transformer_networks) names.emplace_back(network.name);
  return names;
}

template <class T>
std::unique_ptr<Model<T>> make_language_model(const std::string& name, int vocabulary, int length, int max_batch,
                                              Path path) {
  for (const LstmNetwork& network : lstm_networks) {
    if (name == network.name) {
      return std::make_unique<LstmLanguageModel<T>>(network, vocabulary, length, max_batch, path);
    }
  }
  for (const TransformerNetwork& network : transformer_networks) {
    if (name == network.name) {
      return std::make_unique<TransformerLanguageModel<T>>(network, vocabulary, length, max_batch, path);
    }
  }
  throw Error(
      fmt::format("unknown language model '{}': allowed are {}", name, fmt::join(language_model_names(), ", ")));
}

template std::unique_ptr<Model<float>> make_language_model(const std::string&, int, int, int, Path);
template std::unique_ptr<Model<double>> make_language_model(const std::string&, int, int, int, Path);

}  // namespace gradcomp::nn
