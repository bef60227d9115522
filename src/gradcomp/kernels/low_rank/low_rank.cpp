#include "gradcomp/kernels/low_rank/low_rank.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/low_rank/low_rank_lanes.hpp"

namespace gradcomp::kernels {
namespace {

constexpr index_t block_rows = 128;  // rows of one partial sum along columns

}  // namespace

index_t factor_rank(const Segment& segment, int rank) {
  return std::min<index_t>({rank, segment.rows(), segment.columns()});
}

bool is_factored(const Segment& segment, int rank, double min_rate) {
  const index_t factors = factor_rank(segment, rank) * (segment.rows() + segment.columns());
  return segment.is_matrix() && segment.count > 0 &&
         static_cast<double>(factors) * min_rate < static_cast<double>(segment.count);
}

LowRankPlan::LowRankPlan(const Layout& layout, int rank, double min_rate) {
  std::vector<Factored> matrices;
  std::vector<Rows> tiles, blocks;
  std::vector<Dense> dense;
  std::vector<index_t> ids;
  for (const auto& segment : layout.segments) {
    if (is_factored(segment, rank, min_rate)) {
      ids.push_back(segment.id);
      add_matrix(segment, rank, matrices, tiles, blocks);
      continue;
    }
    for (index_t e = 0; e < segment.count; e += tile_size) {
      const auto count = static_cast<std::int32_t>(std::min<index_t>(tile_size, segment.count - e));
      dense.push_back({segment.offset + e, m_dense + e, count});
    }
    m_dense += segment.count;
  }
  std::vector<ColumnMatrix> p_columns, q_columns;
  std::vector<Sums> sums;
  for (const auto& m : matrices) {
    p_columns.push_back({m.p, m.rows, m.rank});
    q_columns.push_back({m.q, m.columns, m.rank});
    const auto matrix = static_cast<std::int32_t>(&m - matrices.data());
    for (index_t e = 0; e < m.rank * index_t{m.columns}; e += warp_lanes) sums.push_back({matrix, e});
  }
  m_matrices = upload("gradcomp::kernels::low_rank_matrices", matrices);
  m_tiles = upload("gradcomp::kernels::low_rank_tiles", tiles);
  m_blocks = upload("gradcomp::kernels::low_rank_blocks", blocks);
  m_sums = upload("gradcomp::kernels::low_rank_sums", sums);
  m_dense_tiles = upload("gradcomp::kernels::low_rank_dense", dense);
  m_p_columns = upload("gradcomp::kernels::low_rank_p_columns", p_columns);
  m_q_columns = upload("gradcomp::kernels::low_rank_q_columns", q_columns);
  m_ids = upload("gradcomp::kernels::low_rank_ids", ids);
  m_partial = Vector<float>("gradcomp::kernels::low_rank_partial", static_cast<std::size_t>(m_partials));
}

void LowRankPlan::add_matrix(const Segment& segment, int rank, std::vector<Factored>& matrices,
                             std::vector<Rows>& tiles, std::vector<Rows>& blocks) {
  const index_t rows = segment.rows(), columns = segment.columns(), r = factor_rank(segment, rank);
  require(rows < (index_t{1} << 31) && columns < (index_t{1} << 31),
          "powersgd: matrix '{}' has {} x {} elements; allowed: below 2^31 rows and columns", segment.name, rows,
          columns);
  const auto narrow = [](index_t value) { return static_cast<std::int32_t>(value); };
  const auto matrix = narrow(static_cast<index_t>(matrices.size()));
  matrices.push_back({segment.offset, narrow(rows), narrow(columns), narrow(r), m_p, m_q, m_partials});
  const index_t tile_rows = std::max<index_t>(1, tile_size / columns);
  for (index_t row = 0; row < rows; row += tile_rows) {
    tiles.push_back({matrix, narrow(row), narrow(std::min(tile_rows, rows - row)), 0, narrow(columns)});
  }
  for (index_t row = 0; row < rows; row += block_rows) {
    for (index_t column = 0; column < columns; column += panel_columns) {
      blocks.push_back({matrix, narrow(row), narrow(std::min(block_rows, rows - row)), narrow(column),
                        narrow(std::min(panel_columns, columns - column))});
    }
  }
  m_p += r * rows;
  m_q += r * columns;
  m_partials += (rows + block_rows - 1) / block_rows * r * columns;
}

index_t LowRankPlan::scratch_bytes() const {
  return static_cast<index_t>(m_matrices.size() * sizeof(Factored) + (m_tiles.size() + m_blocks.size()) * sizeof(Rows) +
                              m_sums.size() * sizeof(Sums) + m_dense_tiles.size() * sizeof(Dense) +
                              m_partial.size() * sizeof(float));
}

void LowRankPlan::project(const Exec& exec, const Source& source, const Span<const float>& q, const Span<float>& p,
                          const Span<float>& dense, const Mark& mark) const {
  const auto matrices = m_matrices;
  const auto tiles = m_tiles;
  for_warps(
      "gradcomp::kernels::low_rank_project", exec, static_cast<index_t>(tiles.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Rows tile = tiles(t);
        const Factored m = matrices(tile.matrix);
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        const std::int32_t end = tile.row + tile.rows;
        for (std::int32_t i = tile.row, rows = 0; i < end; i += rows) {
          rows = rows_together(m.columns, end - i);
          const index_t first = m.first + static_cast<index_t>(i) * m.columns;
          if (rows == 1) {  // a long row is multiplied part by part, while it is in the first-level cache
            project_row(warp, source, m, i, q.data() + m.q, p.data() + m.p, [&](index_t e, index_t elements) {
              accumulate_rows(warp, source, first + e, elements, bad, [](int, float, int) {});
            });
            continue;
          }
          accumulate_rows(warp, source, first, static_cast<index_t>(rows) * m.columns, bad, [](int, float, int) {});
          warp.sync();
          for (std::int32_t row = i; row < i + rows; ++row)
            project_row(warp, source, m, row, q.data() + m.q, p.data() + m.p, [](index_t, index_t) {});
        }
        note_bad(warp, bad, mark);
      });
  accumulate_dense(exec, source, dense, mark);
}

void LowRankPlan::project_back(const Exec& exec, const Source& source, const Span<const float>& p,
                               const Span<float>& q) const {
  const auto matrices = m_matrices;
  const auto blocks = m_blocks;
  const auto partial = m_partial;
  for_warps(
      "gradcomp::kernels::low_rank_project_back", exec, static_cast<index_t>(blocks.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t b) {
        const Rows block = blocks(b);
        const Factored m = matrices(block.matrix);
        const float* const a =
            source.accumulated() + m.first + static_cast<index_t>(block.row) * m.columns + block.column;
        const index_t number = block.row / block_rows;
        float* const out = partial.data() + m.partial + number * m.rank * m.columns + block.column;
        for (std::int32_t k = 0; k < m.rank; k += rank_chunk(m.rank - k)) {
          const float* const factor = p.data() + m.p + static_cast<index_t>(k) * m.rows + block.row;
          const ColumnSums sums{a, m.columns, factor, m.rows, block.rows, block.columns};
          sums.run(warp, rank_chunk(m.rank - k), out + static_cast<index_t>(k) * m.columns);
        }
      });
  const auto all_sums = m_sums;
  for_warps(
      "gradcomp::kernels::low_rank_combine", exec, static_cast<index_t>(all_sums.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t i) {
        const index_t e = all_sums(i).first;
        const Factored m = matrices(all_sums(i).matrix);
        const index_t size = static_cast<index_t>(m.rank) * m.columns;
        const index_t parts = (m.rows + block_rows - 1) / block_rows;
        const int active = static_cast<int>(size - e < warp_lanes ? size - e : warp_lanes);
        Lanes<float> sum;
        warp.each([&](int l) { sum[l] = 0; });
        for (index_t part = 0; part < parts; ++part) {
          Lanes<float> x;
          load_row(warp, partial.data() + m.partial + part * size + e, active, x);
          warp.each([&](int l) { sum[l] += x[l]; });
        }
        store_row(warp, q.data() + m.q + e, active, sum);
      });
}

void LowRankPlan::reconstruct(const Exec& exec, const Source& source, const Span<const float>& p,
                              const Span<const float>& q, const Span<const float>& dense, float share, const Mark& lost,
                              const Span<float>& out) const {
  const auto matrices = m_matrices;
  const auto tiles = m_tiles;
  const auto dense_tiles = m_dense_tiles;
  for_warps(
      "gradcomp::kernels::low_rank_reconstruct", exec, static_cast<index_t>(tiles.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        if (lost.is_set()) return;
        const Rows tile = tiles(t);
        const Factored m = matrices(tile.matrix);
        for (std::int32_t row = tile.row; row < tile.row + tile.rows; ++row)
          reconstruct_row(warp, source, m, row, p.data() + m.p, q.data() + m.q, out.data());
      });
  for_warps(
      "gradcomp::kernels::low_rank_reconstruct_dense", exec, static_cast<index_t>(dense_tiles.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        if (lost.is_set()) return;
        const Dense tile = dense_tiles(t);
        const float* const sum = dense.data() + tile.position;
        float* const target = out.data() + tile.first;
        send_rows(warp, source, tile.first, tile.count, [&](int l, float a, int row) {
          const index_t e = row * warp_lanes + l;
          if (e < tile.count) target[e] = share * sum[e];
          return a;  // sent completely, so that the memory keeps nothing
        });
      });
}

}  // namespace gradcomp::kernels
