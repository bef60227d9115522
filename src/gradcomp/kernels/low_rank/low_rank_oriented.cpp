#include "gradcomp/kernels/low_rank/low_rank_oriented.hpp"

#include <vector>

#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::kernels {
namespace {

/// The segments for which `wanted` holds, with their offsets in the bucket.
template <class Wanted>
Layout part(const Layout& layout, const Wanted& wanted) {
  Layout chosen;
  for (const Segment& segment : layout.segments) {
    if (wanted(segment)) chosen.segments.push_back(segment);
  }
  return chosen;
}

/// `first` followed by `second`, with `shift` added to the offsets of `second`.
Vector<ColumnMatrix> joined(const Vector<ColumnMatrix>& first, const Vector<ColumnMatrix>& second, index_t shift) {
  const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), first);
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), second);
  std::vector<ColumnMatrix> all(a.data(), a.data() + a.size());
  for (std::size_t i = 0; i < b.size(); ++i) all.push_back({b(i).offset + shift, b(i).rows, b(i).columns});
  return upload("gradcomp::kernels::oriented_columns", all);
}

Vector<index_t> joined(const Vector<index_t>& first, const Vector<index_t>& second) {
  const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), first);
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), second);
  std::vector<index_t> all(a.data(), a.data() + a.size());
  all.insert(all.end(), b.data(), b.data() + b.size());
  return upload("gradcomp::kernels::oriented_ids", all);
}

/// The first `count` elements, and the others.
template <class T>
std::pair<Span<T>, Span<T>> split(const Span<T>& all, index_t count) {
  return {subspan(all, 0, count), subspan(all, count, static_cast<index_t>(all.size()) - count)};
}

/// A source without a memory whose gradient is the a that the first pass left.
Source again(const Source& source) {
  Source touched;
  touched.count = source.count;
  touched.gradient = source.accumulated();
  return touched;
}

}  // namespace

OrientedLowRank::OrientedLowRank(const Layout& layout, int rank, double min_rate,
                                 const std::function<bool(const Segment&)>& transposed)
    : m_straight(part(layout, [&](const Segment& s) { return !(is_factored(s, rank, min_rate) && transposed(s)); }),
                 rank, min_rate),
      m_turned(part(layout, [&](const Segment& s) { return is_factored(s, rank, min_rate) && transposed(s); }), rank,
               min_rate),
      m_p_columns(joined(m_straight.p_columns(), m_turned.q_columns(), m_straight.p_count())),
      m_q_columns(joined(m_straight.q_columns(), m_turned.p_columns(), m_straight.q_count())),
      m_ids(joined(m_straight.ids(), m_turned.ids())) {}

void OrientedLowRank::project(const Exec& exec, const Source& source, const Span<const float>& q, const Span<float>& p,
                              const Span<float>& dense, const Mark& mark) const {
  const auto [q_straight, q_turned] = split(q, m_straight.q_count());
  const auto [p_straight, p_turned] = split(p, m_straight.p_count());
  m_straight.project(exec, source, q_straight, p_straight, dense, mark);
  if (!has_turned()) return;
  m_turned.accumulate(exec, source, {}, mark);
  m_turned.project_back(exec, source, q_turned, p_turned);
}

void OrientedLowRank::accumulate(const Exec& exec, const Source& source, const Span<float>& dense,
                                 const Mark& mark) const {
  m_straight.accumulate(exec, source, dense, mark);
  if (has_turned()) m_turned.accumulate(exec, source, {}, mark);
}

void OrientedLowRank::project_back(const Exec& exec, const Source& source, const Span<const float>& p,
                                   const Span<float>& q) const {
  const auto [p_straight, p_turned] = split(p, m_straight.p_count());
  const auto [q_straight, q_turned] = split(q, m_straight.q_count());
  m_straight.project_back(exec, source, p_straight, q_straight);
  if (has_turned()) m_turned.project(exec, again(source), p_turned, q_turned, {}, {});
}

void OrientedLowRank::reconstruct(const Exec& exec, const Source& source, const Span<const float>& p,
                                  const Span<const float>& q, const Span<const float>& dense, float share,
                                  const Mark& lost, const Span<float>& out) const {
  const auto [p_straight, p_turned] = split(p, m_straight.p_count());
  const auto [q_straight, q_turned] = split(q, m_straight.q_count());
  m_straight.reconstruct(exec, source, p_straight, q_straight, dense, share, lost, out);
  if (has_turned()) m_turned.reconstruct(exec, source, q_turned, p_turned, {}, share, lost, out);
}

}  // namespace gradcomp::kernels
