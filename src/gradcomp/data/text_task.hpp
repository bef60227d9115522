#pragma once
// Texts as a task: predict the next token. In training, each sequence of the global batch walks through its own stretch
// of the text, `length` tokens per step, and keeps the model's hidden state from step to step (truncated
// backpropagation through time, Mikolov et al. 2010).
#include <memory>
#include <string>

#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

/// The text that `spec` names (text.hpp). The spec takes one more option, length=N: the tokens of a sequence in one
/// batch (default: DatasetEntry::length). A `length` other than 0 means the same. Throws Error for a spec or a length
/// that is not allowed.
///
/// Training: the text is cut into as many equal stretches as the global batch has sequences (batch x ranks), each for a
/// whole number of steps; the rest of the text is not used. Sequence i of rank r walks through stretch i x ranks + r.
/// Step k = 0, 1, ... of an epoch has the tokens [batch][length] from position k x length of each stretch. Its labels
/// are the tokens that follow them, and its `indices` are their positions in the text. `restart` is true in step 0.
///
/// Validation and test: the text is cut into up to 32 pieces. The cut does not depend on ranks and batch, so that sums
/// over the text do not depend on them either. Pieces are dealt to the ranks; a rank walks through up to `batch` of
/// them at a time, and `restart` is true in the first step of each. Every token is predicted once, except the first one
/// and fewer than `length` tokens at the end.
std::unique_ptr<Task> make_text_task(const std::string& spec, index_t length = 0);

}  // namespace gradcomp::data
