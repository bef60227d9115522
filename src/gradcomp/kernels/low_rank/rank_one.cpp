#include "gradcomp/kernels/low_rank/rank_one.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/lanes/column_lanes.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {
namespace {

constexpr std::int32_t piece = 1024;  // elements of a long side that one warp computes

/// The elements (i, j) of the Gram matrix of a wide matrix for row i and columns j of the block, and their mirror
/// images.
KOKKOS_FORCEINLINE_FUNCTION void gram_of_rows(const Warp& warp, const StoredMatrix& m, const float* data,
                                              const RankOnePlan::Block& block, double* gram) {
  const index_t n = m.rows;
  for (std::int32_t j = block.column; j < block.column + block.columns; ++j) {
    const double sum = dot(warp, data + block.row * index_t{m.columns}, data + j * index_t{m.columns}, m.columns);
    warp.once([&] { gram[block.row * n + j] = gram[j * n + block.row] = sum; });
  }
}

/// The same for a tall matrix: at most 32 columns j, one per lane.
KOKKOS_FORCEINLINE_FUNCTION void gram_of_columns(const Warp& warp, const StoredMatrix& m, const float* data,
                                                 const RankOnePlan::Block& block, double* gram) {
  const index_t n = m.columns;
  Lanes<double> sum;
  warp.each([&](int l) { sum[l] = 0; });
  for (std::int32_t r = 0; r < m.rows; ++r) {
    const float* const row = data + r * n;
    const auto x = static_cast<double>(row[block.row]);
    Lanes<float> y;
    load_row(warp, row + block.column, block.columns, y);
    warp.each([&](int l) { sum[l] += x * static_cast<double>(y[l]); });
  }
  warp.each([&](int l) {
    if (l < block.columns) gram[block.row * n + block.column + l] = gram[(block.column + l) * n + block.row] = sum[l];
  });
}

/// out[i] = factor * sum over the short side of u times the matrix, for i in [begin, end) of the long side.
KOKKOS_FORCEINLINE_FUNCTION void long_vector(const Warp& warp, const StoredMatrix& m, const float* data,
                                             const double* u, double factor, std::int32_t begin, std::int32_t end,
                                             float* out) {
  const index_t n = m.columns;
  if (!m.is_wide()) {
    for (std::int32_t i = begin; i < end; ++i) {
      const float* const row = data + i * n;
      Lanes<double> sum;
      warp.each([&](int l) { sum[l] = 0; });
      each_element(warp, n, [&](int l, index_t j) { sum[l] += u[j] * static_cast<double>(row[j]); });
      const double total = warp.sum(sum);
      warp.once([&] { out[i] = static_cast<float>(factor * total); });
    }
    return;
  }
  for (std::int32_t i = begin; i < end; i += warp_lanes) {
    Lanes<double> sum;
    warp.each([&](int l) { sum[l] = 0; });
    for (std::int32_t k = 0; k < m.rows; ++k) {
      Lanes<float> x;
      load_row(warp, data + k * n + i, end - i, x);
      warp.each([&](int l) { sum[l] += u[k] * static_cast<double>(x[l]); });
    }
    warp.each([&](int l) {
      if (i + l < end) out[i + l] = static_cast<float>(factor * sum[l]);
    });
  }
}

}  // namespace

RankOnePlan::RankOnePlan(const std::vector<StoredMatrix>& matrices) : m_host(matrices) {
  std::vector<SymmetricMatrix> grams;
  std::vector<Block> rows, blocks;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const StoredMatrix& m = matrices[i];
    const auto number = static_cast<std::int32_t>(i);
    const std::int32_t n = m.short_side();
    grams.push_back({m_gram, m_values, n});
    m_gram += index_t{n} * n;
    m_values += n;
    m_pieces = std::max(m_pieces, (m.long_side() + piece - 1) / piece);
    for (std::int32_t row = 0; row < n; ++row) {
      for (std::int32_t column = 0; column <= row; column += warp_lanes)
        rows.push_back({number, row, 1, column, std::min(warp_lanes, row + 1 - column)});
    }
    const std::int32_t width = std::min(m.columns, std::int32_t{tile_size}), height = std::max(1, tile_size / width);
    for (std::int32_t row = 0; row < m.rows; row += height) {
      for (std::int32_t column = 0; column < m.columns; column += width)
        blocks.push_back({number, row, std::min(height, m.rows - row), column, std::min(width, m.columns - column)});
    }
  }
  m_matrices = upload("gradcomp::kernels::rank_one_matrices", matrices);
  m_grams = upload("gradcomp::kernels::rank_one_grams", grams);
  m_gram_rows = upload("gradcomp::kernels::rank_one_gram_rows", rows);
  m_blocks = upload("gradcomp::kernels::rank_one_blocks", blocks);
}

index_t RankOnePlan::bytes() const {
  return static_cast<index_t>(m_matrices.size() * (sizeof(StoredMatrix) + sizeof(SymmetricMatrix)) +
                              (m_gram_rows.size() + m_blocks.size()) * sizeof(Block));
}

void RankOnePlan::gram(const Exec& exec, const float* data, const Span<double>& grams) const {
  const auto matrices = m_matrices;
  const auto places = m_grams;
  const auto rows = m_gram_rows;
  for_warps(
      "gradcomp::kernels::rank_one_gram", exec, static_cast<index_t>(rows.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t i) {
        const Block block = rows(i);
        const StoredMatrix m = matrices(block.matrix);
        double* const gram = grams.data() + places(block.matrix).offset;
        if (m.is_wide()) {
          gram_of_rows(warp, m, data + m.first, block, gram);
        } else {
          gram_of_columns(warp, m, data + m.first, block, gram);
        }
      });
}

void RankOnePlan::make_terms(const Exec& exec, const float* data, const Span<const double>& vectors,
                             const Vector<RankOneTerm>& terms, index_t count, float* floats) const {
  const auto matrices = m_matrices;
  const auto places = m_grams;
  const std::int32_t pieces = m_pieces;
  for_warps(
      "gradcomp::kernels::rank_one_terms", exec, count * pieces, KOKKOS_LAMBDA(const Warp& warp, index_t i) {
        const RankOneTerm term = terms(i / pieces);
        const StoredMatrix m = matrices(term.matrix);
        const index_t n = m.short_side();
        const std::int32_t begin = static_cast<std::int32_t>(i % pieces) * piece;
        const std::int32_t end = begin + piece < m.long_side() ? begin + piece : m.long_side();
        const double* const u = vectors.data() + places(term.matrix).offset + term.vector * n;
        float* const out = floats + term.position;
        float* const short_part = out + 1 + (m.is_wide() ? 0 : m.rows);
        float* const long_part = out + 1 + (m.is_wide() ? m.rows : 0);
        if (begin < end) long_vector(warp, m, data + m.first, u, term.inverse_sigma, begin, end, long_part);
        if (begin > 0) return;
        each_element(warp, n, [&](int, index_t j) { short_part[j] = static_cast<float>(u[j]); });
        warp.once([&] { out[0] = term.weight; });
      });
}

void RankOnePlan::add_terms(const Exec& exec, const Vector<RankOneTerms>& terms, const float* floats, float weight,
                            const Span<float>& out) const {
  const auto matrices = m_matrices;
  const auto blocks = m_blocks;
  for_warps(
      "gradcomp::kernels::rank_one_add", exec, static_cast<index_t>(blocks.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const Block block = blocks(b);
        const StoredMatrix m = matrices(block.matrix);
        const RankOneTerms list = terms(block.matrix);
        for (std::int32_t row = block.row; row < block.row + block.rows; ++row) {
          for (std::int32_t j = 0; j < block.columns; j += warp_lanes) {
            const std::int32_t column = block.column + j;
            float* const to = out.data() + m.first + static_cast<index_t>(row) * m.columns + column;
            Lanes<float> sum, x;
            warp.each([&](int l) { sum[l] = 0; });
            for (index_t k = 0; k < list.count; ++k) {
              const float* const term = floats + list.position + k * m.term();
              const float factor = term[0] * term[1 + row];
              load_row(warp, term + 1 + m.rows + column, block.columns - j, x);
              warp.each([&](int l) { sum[l] += factor * x[l]; });
            }
            load_row(warp, to, block.columns - j, x);
            warp.each([&](int l) { x[l] += weight * sum[l]; });
            store_row(warp, to, block.columns - j, x);
          }
        }
      });
}

void gather_runs(const Exec& exec, const Vector<CopiedRun>& runs, const float* data, float* floats) {
  for_warps(
      "gradcomp::kernels::gather_runs", exec, static_cast<index_t>(runs.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t r) {
        const CopiedRun run = runs(r);
        each_element(warp, run.count, [&](int, index_t i) { floats[run.position + i] = data[run.first + i]; });
      });
}

void add_runs(const Exec& exec, const Vector<CopiedRun>& runs, const float* floats, float weight,
              const Span<float>& out) {
  for_warps(
      "gradcomp::kernels::add_runs", exec, static_cast<index_t>(runs.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t r) {
        const CopiedRun run = runs(r);
        each_element(warp, run.count, [&](int, index_t i) { out(run.first + i) += weight * floats[run.position + i]; });
      });
}

}  // namespace gradcomp::kernels
