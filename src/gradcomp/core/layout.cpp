#include "gradcomp/core/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>
#include <utility>

namespace gradcomp {

Layout& Layout::add(std::string name, std::vector<index_t> shape, bool outputs_first) {
  Segment segment;
  segment.id = static_cast<index_t>(segments.size());
  segment.name = std::move(name);
  segment.count = std::accumulate(shape.begin(), shape.end(), index_t{1}, std::multiplies<>{});
  segment.shape = std::move(shape);
  segment.offset = count();
  segment.outputs_first = outputs_first;
  segments.push_back(std::move(segment));
  return *this;
}

Layout Layout::slice(std::size_t first, std::size_t last) const {
  Layout part;
  for (std::size_t i = first; i < last; ++i) {
    part.segments.push_back(segments[i]);
    part.segments.back().offset -= segments[first].offset;
  }
  return part;
}

Layout Layout::fused() const {
  Layout one = flat(count(), "bucket");
  if (!segments.empty()) one.segments[0].id = segments[0].id;
  return one;
}

std::string Layout::text() const {
  std::string lines;
  for (const Segment& segment : segments) {
    lines += segment.name;
    if (!segment.shape.empty()) lines += fmt::format(" {}", fmt::join(segment.shape, "x"));
    lines += segment.outputs_first ? " outputs-first\n" : "\n";
  }
  return lines;
}

Layout Layout::flat(index_t count, std::string name) {
  Layout layout;
  layout.add(std::move(name), {count});
  layout.segments[0].is_tensor = false;
  return layout;
}

}  // namespace gradcomp
