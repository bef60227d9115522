#pragma once
// block_top_k: whole blocks of consecutive elements, those of the highest scores (mask=shared: Sun et al., Optimizing
// network performance for distributed DNN training on GPU clusters, arXiv 1902.06855, whose chunks have allreduced L1
// norms; blocks as OmniReduce's, Fei et al., SIGCOMM 2021, which sends those that are not zero).
//
// Every segment is cut into blocks of `block` elements, the last one short (a shorter segment is one block); of B
// blocks max(1, floor(ratio B)) are sent, by score, ties to the lowest number. score: l2 (the norm, not its square, so
// that 32 bits hold it), l1 or max, each at most half the largest float / ranks, so that only a flag makes a sum
// non-finite. Retained energy lies between random_k's and top_k's; block=1 is top_k.
//
// mask=shared: round 0 sums the scores of all ranks (4 bytes per block), every rank chooses the same blocks, round 1
// sums their values: no index travels, and the density stays at ratio whatever the number of ranks. mask=private: each
// rank chooses its own; one payload, gathered: u32 block numbers, ascending, then f32 values of whole blocks. Values of
// a short block are padded with zeros to the block's length in both; State::kept counts the padding, up to n.
// OmniReduce zeroes what it does not send in the gradient itself; here it stays in the memory of the source, and what
// is sent and what stays add up to a bit for bit.
//
// Skipping: non-finite gradients put NaN into element 0 of round 0; a sum of values that overflows skips the step too.
// Bytes: shared 4 B + 4 (sum over chosen blocks of the block's length); private 4 more per chosen block, without 4 B.
// Passes: 2 reads and 1 write with the residual; chosen blocks are read and written once more.
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry block_top_k();
}
