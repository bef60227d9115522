#pragma once
// Checks of the sizes of a language model, and of a batch of texts.
#include "gradcomp/nn/model.hpp"
#include "gradcomp/nn/sequence_shape.hpp"

namespace gradcomp::nn {

/// Throws Error that begins with `model` unless the vocabulary has at least 2 words, and sequences and batches are not
/// empty.
void require_texts(const char* model, int vocabulary, int length, int max_batch);

/// Throws Error that begins with `model` unless `rate` is in [0, 1).
void require_dropout(const char* model, double rate);

/// Extents of a batch. Throws Error that begins with `model` unless the batch has whole sequences, at most as many as
/// `largest`, one label per token, and one weight per sequence or none.
template <class T>
SequenceShape shape_of(const std::string& model, const Batch<T>& batch, const SequenceShape& largest);

}  // namespace gradcomp::nn
