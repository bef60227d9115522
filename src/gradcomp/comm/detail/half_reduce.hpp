#pragma once
// Reductions of 16-bit floats on host buffers: each term is widened to f32, the terms are combined in rank order, and
// the result is rounded once. These are plain loops, because they run on the communication thread, which must not
// launch kernels. The conversions have no branches, so that the loops vectorise.
#include <algorithm>
#include <array>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/combine.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp::comm {

inline bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

/// result[i] = op over r of blocks[r * count + i]. A tile of f32 keeps the partial results in the first-level cache.
template <class Format>
void reduce_half_blocks(const std::uint16_t* blocks, int ranks, index_t count, ReduceOp op, std::uint16_t* result) {
  std::array<float, 1024> tile;
  for (index_t begin = 0; begin < count; begin += static_cast<index_t>(tile.size())) {
    const auto n = static_cast<std::size_t>(std::min<index_t>(count - begin, static_cast<index_t>(tile.size())));
    for (std::size_t i = 0; i < n; ++i) tile[i] = Format::decode(blocks[begin + static_cast<index_t>(i)]);
    for (int r = 1; r < ranks; ++r) {
      const std::uint16_t* term = blocks + r * count + begin;
      if (op == ReduceOp::sum) {  // a loop of its own, so that it vectorises
        for (std::size_t i = 0; i < n; ++i) tile[i] += Format::decode(term[i]);
      } else {
        for (std::size_t i = 0; i < n; ++i) tile[i] = kernels::combine(op, tile[i], Format::decode(term[i]));
      }
    }
    for (std::size_t i = 0; i < n; ++i) result[begin + static_cast<index_t>(i)] = Format::encode(tile[i]);
  }
}

inline void reduce_half(DType type, const std::uint16_t* blocks, int ranks, index_t count, ReduceOp op,
                        std::uint16_t* result) {
  if (type == DType::f16) {
    reduce_half_blocks<kernels::Half>(blocks, ranks, count, op, result);
  } else {
    reduce_half_blocks<kernels::Bfloat>(blocks, ranks, count, op, result);
  }
}

}  // namespace gradcomp::comm
