#include "gradcomp/nn/networks/texts.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/networks/label_losses.hpp"

namespace gradcomp::nn {

void require_texts(const char* model, int vocabulary, int length, int max_batch) {
  require(vocabulary > 1 && length > 0 && max_batch > 0,
          "{}: needs at least 2 words and a batch of at least 1 sequence of 1 token, not {}, {} and {}", model,
          vocabulary, max_batch, length);
}

void require_dropout(const char* model, double rate) {
  require(rate >= 0 && rate < 1, "{}: dropout must lie in [0, 1), not {}", model, rate);
}

template <class T>
SequenceShape shape_of(const std::string& model, const Batch<T>& batch, const SequenceShape& largest) {
  const index_t tokens = batch.size();
  require(tokens > 0 && tokens % largest.steps == 0 && tokens <= largest.rows(),
          "{}: a batch of {} tokens where 1 to {} sequences of {} tokens are allowed", model, tokens, largest.sequences,
          largest.steps);
  require(index_t(batch.tokens.extent(0)) == tokens, "{}: {} tokens for {} labels where each token has one", model,
          batch.tokens.extent(0), tokens);
  require_weights(model, batch, tokens / largest.steps);
  return {largest.steps, tokens / largest.steps};
}

template SequenceShape shape_of(const std::string&, const Batch<float>&, const SequenceShape&);
template SequenceShape shape_of(const std::string&, const Batch<double>&, const SequenceShape&);

}  // namespace gradcomp::nn
