#pragma once
// Rows of a table by number: the first layer of a language model.
#include "gradcomp/nn/gemm/gemm.hpp"

namespace gradcomp::nn {

/// to = rows `tokens` of the table, one after another; a token that is no row of it gives zeros.
template <class T>
void gather_rows(const Exec& exec, const Matrix<const T>& table, const Span<const std::int32_t>& tokens,
                 const Matrix<T>& to);

/// table += the rows of dy, each where its token says, in the order of the rows; tokens that are no row are passed
/// over. Parallel over columns, or on devices over tokens, so that equal tokens meet in one thread: the same bits.
template <class T>
void add_rows(const Exec& exec, const Matrix<const T>& dy, const Span<const std::int32_t>& tokens,
              const Matrix<T>& table, Path path);

/// Row r of x += row r / (x.rows / positions.rows) of the positions: the same for all sequences of a step.
template <class T>
void add_positions(const Exec& exec, const Matrix<const T>& positions, const Matrix<T>& x);

/// Gradient of the positions: the sums of each step's rows, in order.
template <class T>
void sum_positions(const Exec& exec, const Matrix<const T>& dy, const Matrix<T>& positions);

/// Tokens [sequences][steps] -> [steps][sequences]: all rows of one step of a recurrence lie together.
void order_by_step(const Exec& exec, const Span<const std::int32_t>& tokens, index_t sequences, index_t steps,
                   const Span<std::int32_t>& to);

}  // namespace gradcomp::nn
