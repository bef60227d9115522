#pragma once
// A small model of every class with a batch of samples, and each of these samples alone, for the tests of weights and
// of the losses of samples.
#include <memory>
#include <vector>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/networks/lstm_classifier.hpp"
#include "gradcomp/nn/networks/lstm_language_model.hpp"
#include "gradcomp/nn/networks/resnet.hpp"
#include "gradcomp/nn/networks/transformer_language_model.hpp"
#include "gradcomp/nn/networks/vgg.hpp"
#include "unit/nn/support.hpp"

namespace gradcomp::nn::test {

enum class Kind : std::uint8_t { resnet, vgg, frames, lstm, tied_lstm, transformer };
inline constexpr Kind kinds[] = {Kind::resnet, Kind::vgg, Kind::frames, Kind::lstm, Kind::tied_lstm, Kind::transformer};
inline constexpr const char* kind_names[] = {"resnet", "vgg", "frames", "lstm", "tied_lstm", "transformer"};
inline constexpr Path paths[] = {Path::best, Path::portable, Path::device};

/// Whether the loss of a sample depends on the other samples of its batch.
inline bool has_batch_norm(Kind kind) { return kind == Kind::resnet || kind == Kind::vgg; }
inline bool has_hidden_state(Kind kind) { return kind == Kind::lstm || kind == Kind::tied_lstm; }

/// Texts and frames have 5 steps, texts 11 words, images 8 x 8 pixels; there are 4 classes.
inline constexpr int sample_length = 5, sample_units = 6;
template <class T>
std::unique_ptr<Model<T>> small_model(Kind kind, int max_batch, Path path, double dropout) {
  const int length = sample_length, units = sample_units;
  switch (kind) {
    case Kind::resnet:
      return std::make_unique<ResNet<T>>("resnet", ResNetSpec{2, 1, 16, true}, 8, 8, max_batch, 4, path);
    case Kind::vgg:
      return std::make_unique<Vgg<T>>("vgg", VggSpec{{{16}, {32}}, 12}, 8, 8, max_batch, 4, path);
    case Kind::frames:
      return std::make_unique<LstmClassifier<T>>(FrameNetwork{"frames", 2, units, dropout}, 3, length, max_batch, 4,
                                                 path);
    case Kind::lstm:
      return std::make_unique<LstmLanguageModel<T>>(LstmNetwork{"lstm", 2, units, 4, false, dropout}, 11, length,
                                                    max_batch, path);
    case Kind::tied_lstm:
      return std::make_unique<LstmLanguageModel<T>>(LstmNetwork{"tied_lstm", 1, units, units, true, dropout}, 11,
                                                    length, max_batch, path);
    default:
      return std::make_unique<TransformerLanguageModel<T>>(
          TransformerNetwork{"transformer", 1, units, 2, false, dropout}, 11, length, max_batch, path);
  }
}

template <class T>
struct SampleProblem {
  SampleProblem(Kind of, int count, int max_batch, Path path = Path::best, double dropout = 0)
      : kind(of),
        size(count),
        model(small_model<T>(of, max_batch, path, dropout)),
        parameters(model->layout().count()),
        gradient(model->layout().count()),
        buffers(model->buffer_count()),
        images(random_vector<T>(count * model->image_size(), 1)),
        labels(count * labels_of_each()),
        tokens(is_text() ? count * sample_length : 0),
        weights(0) {
    model->initialise(5, parameters.host(), buffers.host());
    for (index_t i = 0; i < model->layout().count(); ++i) {  // so that every tensor has an effect
      parameters(i) += static_cast<T>(has_batch_norm(kind) ? 0 : 0.3 * normal(9, 1, i));
    }
    for (index_t i = 0; i < model->buffer_count(); ++i) buffers(i) += static_cast<T>(uniform(9, 2, i));
    const auto random_class = [&](index_t stream, index_t i) {
      return static_cast<std::int32_t>(uniform(3, stream, i) * model->classes()) % model->classes();
    };
    for (index_t i = 0; i < index_t(labels.size()); ++i) labels(i) = random_class(1, i);
    for (index_t i = 0; i < index_t(tokens.size()); ++i) tokens(i) = random_class(2, i);
  }

  bool is_text() const { return has_hidden_state(kind) || kind == Kind::transformer; }
  int labels_of_each() const { return is_text() ? sample_length : 1; }
  const char* name() const { return kind_names[static_cast<int>(kind)]; }

  SampleProblem& weigh(const std::vector<float>& with) {
    weights = Mirrored<float>(static_cast<index_t>(with.size()));
    for (std::size_t i = 0; i < with.size(); ++i) weights(static_cast<index_t>(i)) = with[i];
    return *this;
  }

  Batch<T> batch() const { return {images, labels, tokens, restart, key, weights}; }
  Loss train() { return model->train_step(Exec(), parameters, buffers, batch(), gradient); }
  Loss evaluate() { return model->evaluate(Exec(), parameters, buffers, batch()); }
  Mirrored<float> sample_losses() const {
    const Mirrored<float> losses(size);
    model->sample_losses(Exec(), losses);
    return losses;
  }

  /// Sample j with its hidden state, alone and without a weight, in a model for one sample.
  SampleProblem alone(int j) const {
    SampleProblem one(kind, 1, 1);
    one.parameters.assign(parameters);
    for (index_t i = 0; i < index_t(one.images.size()); ++i) one.images(i) = images(j * index_t(one.images.size()) + i);
    for (int i = 0; i < labels_of_each(); ++i) one.labels(i) = labels(j * labels_of_each() + i);
    for (index_t i = 0; i < index_t(one.tokens.size()); ++i) one.tokens(i) = tokens(j * sample_length + i);
    if (!has_hidden_state(kind)) {
      one.buffers.assign(buffers);
      return one;
    }
    for (index_t i = 0; i < one.model->buffer_count(); ++i) {  // [layer][h, c][max_batch][units]
      const index_t row = i / sample_units * model->max_batch() + j;
      one.buffers(i) = buffers(row * sample_units + i % sample_units);
    }
    return one;
  }

  Kind kind;
  int size;
  std::unique_ptr<Model<T>> model;
  Mirrored<T> parameters, gradient, buffers, images;
  Mirrored<std::int32_t> labels, tokens;
  Mirrored<float> weights;
  bool restart = false;
  std::uint64_t key = 77;
};

}  // namespace gradcomp::nn::test
