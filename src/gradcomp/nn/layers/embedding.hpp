#pragma once
// Embeddings: rows of a table, chosen by token. They are the first layer of a language model.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// Row r of `to` = row tokens[r] of the table, or zeros if the table has no such row.
template <class T>
void gather_rows(const Exec& exec, const Matrix<const T>& table, const Span<const std::int32_t>& tokens,
                 const Matrix<T>& to);

/// Adds row r of dy to row tokens[r] of the table, in the order of the rows; skips tokens for which the table has no
/// row. One thread or warp adds all rows with equal tokens, because the work is parallel over columns, or over tokens
/// on devices. So the bits do not depend on the number of threads.
template <class T>
void add_rows(const Exec& exec, const Matrix<const T>& dy, const Span<const std::int32_t>& tokens,
              const Matrix<T>& table, Path path);

/// Adds row r / sequences of the positions to row r of x, with sequences = x.rows / positions.rows. So all sequences of
/// a step get the same row.
template <class T>
void add_positions(const Exec& exec, const Matrix<const T>& positions, const Matrix<T>& x);

/// Sets row t of `positions`, the gradient of the positions, to the sum of the rows of dy of step t, in order.
template <class T>
void sum_positions(const Exec& exec, const Matrix<const T>& dy, const Matrix<T>& positions);

/// Copies tokens [sequences][steps] to [steps][sequences], so that all rows of one step lie next to each other.
void order_by_step(const Exec& exec, const Span<const std::int32_t>& tokens, index_t sequences, index_t steps,
                   const Span<std::int32_t>& to);

}  // namespace gradcomp::nn
