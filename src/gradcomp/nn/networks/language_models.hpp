#pragma once
// Language models by name: the LSTMs of nn/networks/lstm_language_model.hpp, the Transformers of
// nn/networks/transformer_language_model.hpp.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

/// Names that make_language_model knows.
std::vector<std::string> language_model_names();

/// A model of texts of `vocabulary` words, for batches of up to `max_batch` sequences with `length` tokens each. Throws
/// Error for an unknown name (listing the known ones) or a size it cannot take.
template <class T>
std::unique_ptr<Model<T>> make_language_model(const std::string& name, int vocabulary, int length, int max_batch,
                                              Path path = Path::best);

}  // namespace gradcomp::nn
