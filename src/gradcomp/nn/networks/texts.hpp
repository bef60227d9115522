#pragma once
// What language models ask of their sizes and of a batch of texts.
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// Throws Error unless texts of so many words, and batches of so many sequences of `length` tokens, make a model.
void require_texts(const char* model, int vocabulary, int length, int max_batch);

/// Throws Error unless `rate` is a probability below 1.
void require_dropout(const char* model, double rate);

/// Extents of a batch. Throws Error unless it holds whole sequences, at most those of `largest`, a label per token, and
/// a weight per sequence or none.
template <class T>
SequenceShape shape_of(const std::string& model, const Batch<T>& batch, const SequenceShape& largest);

}  // namespace gradcomp::nn
