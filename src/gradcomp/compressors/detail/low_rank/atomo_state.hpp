#pragma once
// The state of atomo for one bucket: which tensors it decomposes, and as which matrices, and its work space.
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/kernels/low_rank/rank_one.hpp"
#include "gradcomp/kernels/select/moments.hpp"

namespace gradcomp::compressors {

/// Largest short side of a matrix that is decomposed.
inline constexpr index_t longest_short_side = 512;

/// Number of floats in the sections of a payload that contains all terms of every matrix.
index_t max_atomo_floats(const Layout& layout, index_t rank);

/// Work space of one bucket: a payload of up to about 2 n floats, and 16 bytes for each element of the Gram matrices.
struct AtomoState final : State {
  AtomoState(const Layout& bucket, index_t rank);

  index_t scratch_bytes() const override;
  /// Number of floats before the terms: the counts and the raw elements.
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
  std::vector<std::uint32_t> counts;  ///< [matrices] number of terms, of the payload that is being made or read
  std::vector<index_t> ids;           ///< [matrices] segment ids
  index_t raw = 0;                    ///< number of elements in raw tensors
  std::vector<std::int32_t> order;    ///< of the eigenvalues of one matrix
  std::vector<double> singular, probabilities;
};

}  // namespace gradcomp::compressors
