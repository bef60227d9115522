#pragma once
// What atomo keeps for a bucket: which tensors it decomposes, as which matrices, and its work space.
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/kernels/low_rank/rank_one.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::compressors {

/// Largest short side of a matrix that is decomposed.
inline constexpr index_t longest_short_side = 512;

/// Floats of a payload's sections with all terms of every matrix.
index_t max_atomo_floats(const Layout& layout, index_t rank);

/// Work space of one bucket: a payload of up to some 2 n floats, 16 bytes for each element of the Gram matrices.
struct AtomoState final : State {
  AtomoState(const Layout& bucket, index_t rank);

  index_t scratch_bytes() const override;
  /// Floats before the terms: the counts and the raw elements.
  index_t before_terms() const { return static_cast<index_t>(counts.size()) + raw; }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::RankOnePlan plan;
  Vector<kernels::CopiedRun> runs;
  Vector<std::byte> payload;
  Vector<double> grams, vectors, values;
  Vector<kernels::RankOneTerm> terms;
  Vector<kernels::RankOneTerms> received;
  std::vector<double> host_values;
  std::vector<kernels::RankOneTerm> host_terms;
  std::vector<kernels::RankOneTerms> host_received;
  std::vector<std::uint32_t> counts;  ///< [matrices] terms of each, of the payload being made or read
  std::vector<index_t> ids;           ///< [matrices] of their segments
  index_t raw = 0;                    ///< elements of raw tensors
  std::vector<std::int32_t> order;    ///< of one matrix' eigenvalues
  std::vector<double> singular, probabilities;
};

}  // namespace gradcomp::compressors
