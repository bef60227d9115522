#pragma once
// block_top_k: sends whole blocks of consecutive elements, those with the highest scores. mask=shared follows Sun et
// al., Optimizing network performance for distributed DNN training on GPU clusters, arXiv 1902.06855, who add the L1
// norms of chunks over the ranks. The blocks are those of OmniReduce (Fei et al., SIGCOMM 2021), which sends all blocks
// that are not zero.
//
// Every segment is cut into blocks of `block` elements. The last block may be short, and a segment shorter than `block`
// is one block. Of B blocks, the max(1, floor(ratio B)) with the highest scores are sent; ties go to the lowest block
// number. `score` is l2 (the norm and not its square, so that it fits in 32 bits), l1 or max. A score is at most half
// of the largest float / ranks, so that a sum of scores is not finite only if a rank flags the step. The energy that is
// sent lies between that of random_k and that of top_k; with block=1 the method is top_k.
//
// mask=shared: round 0 adds the scores of all ranks (4 bytes per block), and every rank chooses the same blocks. Round
// 1 adds their values. No index travels, and the density stays at ratio for any number of ranks.
//
// mask=private: each rank chooses its own blocks. Its payload, which is gathered, holds the u32 block numbers in
// ascending order and then the f32 values of the blocks.
//
// In both, the values of a short block are padded with zeros to the block's length. State::kept includes this padding,
// up to n. OmniReduce sets what it does not send to zero in the gradient. Here the memory of the source keeps it, and
// what is sent and what stays add up to a, bit for bit.
//
// A rank whose gradient is not finite puts NaN into element 0 of round 0. A sum of values that overflows ends the run
// too.
//
// Bytes: mask=shared 4 B + 4 (sum of the lengths of the chosen blocks); mask=private has no 4 B, but 4 bytes more for
// each chosen block. Passes: 2 reads and 1 write with the residual; chosen blocks are read and written once more.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry block_top_k();
}
