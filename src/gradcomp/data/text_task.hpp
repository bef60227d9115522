#pragma once
// Texts as a task: predict the next token. In training each sequence of the global batch walks a stretch of the text of
// its own, a few tokens per step, and the model's hidden state goes with it (truncated backpropagation through time,
// Mikolov et al. 2010).
#include <memory>
#include <string>

#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// The text that `spec` names (text.hpp) with one more option, length=N: tokens of a sequence in one batch (35 for ptb
/// and wikitext, 32 otherwise); `length`, where it is not 0, is the same. Throws Error.
///
/// Training: the text is cut into as many equal stretches as the global batch has sequences (batch x ranks; sequence
/// i of rank r walks stretch i x ranks + r), each of a whole number of steps; the rest of the text is dropped. Batch of
/// the k-th step of an epoch: tokens [batch][length] from position k x length of each stretch, labels the tokens behind
/// them; `restart` on the first; `indices` the places in the text.
///
/// Validation and test: the text is cut into up to 32 pieces, whatever ranks and batch are: the sums over the text do
/// not depend on them. Pieces are dealt to the ranks and walked up to `batch` at a time, `restart` on the first step of
/// each. Every token but the first and the last (fewer than `length`) ones is predicted once.
std::unique_ptr<Task> make_text_task(const std::string& spec, index_t length = 0);

}  // namespace gradcomp::data
