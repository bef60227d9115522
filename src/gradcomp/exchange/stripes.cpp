#include "gradcomp/exchange/stripes.hpp"

#include <algorithm>
#include <utility>

namespace gradcomp {
namespace {

/// The place nearest to element `target` at which `layout` may be cut.
index_t nearest_cut(const Layout& layout, index_t granule, index_t target) {
  for (const Segment& segment : layout.segments) {
    const index_t end = segment.offset + segment.count;
    if (target >= end) continue;  // skips empty segments too
    const index_t unit = segment.is_matrix() ? segment.columns() : granule;
    const index_t below = segment.offset + (target - segment.offset) / unit * unit;
    const index_t above = std::min(below + unit, end);
    return target - below <= above - target ? below : above;
  }
  return layout.count();
}

/// Elements [first, last) of `segment` as the `number`-th of its pieces. Matrices are cut between rows.
Segment piece_of(const Segment& segment, index_t first, index_t last, index_t number, index_t offset) {
  Segment piece = segment;
  piece.id += number << 32;
  piece.offset = offset;
  piece.count = last - first;
  if (piece.count == segment.count) return piece;
  piece.shape = {piece.count};
  if (segment.is_matrix()) piece.shape = {piece.count / segment.columns(), segment.columns()};
  return piece;
}

}  // namespace

std::vector<Stripe> cut_stripes(const Layout& layout, index_t granule, int parts) {
  std::vector<Stripe> stripes(static_cast<std::size_t>(parts));
  std::vector<index_t> pieces(layout.segments.size(), 0);
  const index_t n = layout.count();
  index_t first = 0;
  for (int p = 0; p < parts; ++p) {
    const index_t last = nearest_cut(layout, granule, n / parts * (p + 1) + n % parts * (p + 1) / parts);
    Stripe& stripe = stripes[static_cast<std::size_t>(p)];
    stripe.first = first;
    for (std::size_t s = 0; s < pieces.size(); ++s) {
      const Segment& segment = layout.segments[s];
      const index_t from = std::max(first, segment.offset), to = std::min(last, segment.offset + segment.count);
      if (from >= to) continue;
      stripe.layout.segments.push_back(piece_of(segment, from, to, pieces[s]++, from - first));
    }
    first = last;
  }
  return stripes;
}

Source part_of(const Source& source, const Stripe& stripe) {
  Source part = source;
  part.count = stripe.count();
  const auto move = [&](auto*& array) {
    if (array != nullptr) array += stripe.first;
  };
  move(part.gradient);
  move(part.memory);
  move(part.velocity);
  move(part.work);
  return part;
}

}  // namespace gradcomp
