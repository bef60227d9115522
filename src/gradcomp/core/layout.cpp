#include "gradcomp/core/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "gradcomp/core/error.hpp"

namespace gradcomp {
namespace {

/// Far above any model, and far below what 64 bits hold, also of bytes of doubles.
constexpr index_t most_elements = index_t{1} << 50;

index_t elements_of(const std::string& name, const std::vector<index_t>& shape) {
  index_t elements = 1;
  for (const index_t extent : shape) {
    require(extent >= 0 && (extent == 0 || elements <= most_elements / extent),
            "tensor '{}' has the shape {}; allowed: up to 2^50 elements", name, fmt::join(shape, "x"));
    elements *= extent;
  }
  return elements;
}

}  // namespace

std::vector<index_t> Layout::counts() const {
  std::vector<index_t> counts;
  for (const auto& segment : segments) counts.push_back(segment.count);
  return counts;
}

Layout& Layout::add(std::string name, std::vector<index_t> shape, bool outputs_first) {
  Segment segment;
  segment.id = static_cast<index_t>(segments.size());
  segment.count = elements_of(name, shape);
  segment.offset = count();
  require(segment.count <= most_elements - segment.offset,
          "the tensors up to '{}' have {} + {} elements; allowed: up to 2^50 in all", name, segment.offset,
          segment.count);
  segment.name = std::move(name);
  segment.shape = std::move(shape);
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
