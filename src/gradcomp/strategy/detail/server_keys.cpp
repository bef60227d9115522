#include "gradcomp/strategy/detail/server_keys.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/exchange/reduction.hpp"

namespace gradcomp {

std::vector<Stripe> server_keys(const MethodSpec& method, const Layout& layout, int servers) {
  const Info& info = method.compressor->info();
  const bool dense = info.family == Info::Family::control;
  if (dense || info.stripes) return cut_stripes(seen_by(method, layout), info.granule, servers);
  std::vector<Stripe> keys;
  const index_t n = layout.count();
  std::size_t first = 0;
  for (int s = 0; s < servers; ++s) {
    const index_t end = n / servers * (s + 1) + n % servers * (s + 1) / servers;
    std::size_t last = first;  // behind the tensor that ends nearest to `end`
    while (last < layout.segments.size()) {
      const Segment& next = layout.segments[last];
      if (s + 1 < servers && next.offset + next.count - end > end - next.offset) break;
      ++last;
    }
    Stripe part;
    part.first = first < layout.segments.size() ? layout.segments[first].offset : n;
    if (last > first) part.layout = seen_by(method, layout.slice(first, last));
    keys.push_back(std::move(part));
    first = last;
  }
  return keys;
}

Layout tensors_of(const Layout& model, const Stripe& keys) {
  Layout part;
  const index_t begin = keys.first, end = keys.first + keys.count();
  for (const Segment& segment : model.segments) {
    const index_t first = std::max(begin, segment.offset), last = std::min(end, segment.offset + segment.count);
    if (first >= last) continue;
    if (segment.is_matrix()) {
      part.add(segment.name, {last - first, 1});
    } else {
      part.add(segment.name, {last - first});
    }
  }
  return part;
}

}  // namespace gradcomp
