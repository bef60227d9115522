#pragma once
// How a flat gradient is cut: a bucket is contiguous, and its segments are the tensors inside it.
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// One tensor (or one whole bucket, at granularity=bucket) of a flat gradient.
struct Segment {
  index_t id = 0;              ///< key of its random streams; equal on all ranks, unique in the model
  std::string name;            ///< as the model calls it, e.g. "stage1.block0.conv1.weight"
  std::vector<index_t> shape;  ///< extents, slowest first
  index_t offset = 0;          ///< first element inside the bucket
  index_t count = 0;           ///< product of the extents
  bool is_tensor = true;       ///< false: several tensors, or a gradient whose tensors are not known, as one vector
  bool outputs_first = false;  ///< the first extent counts outputs (embeddings); otherwise the last one does

  /// Low-rank methods view a tensor as a matrix with rows() = product of all extents but the last, and columns() = last
  /// extent. Vectors and scalars are no matrices.
  bool is_matrix() const { return shape.size() >= 2; }
  index_t columns() const { return shape.empty() ? 1 : shape.back(); }
  index_t rows() const { return columns() == 0 ? 0 : count / columns(); }
};

/// A flat gradient with its segments, which cover it without gaps, in order.
struct Layout {
  std::vector<Segment> segments;

  index_t count() const { return segments.empty() ? 0 : segments.back().offset + segments.back().count; }

  /// The number of elements of each segment.
  std::vector<index_t> counts() const;

  /// Appends a tensor behind the last one. Throws Error for more than 2^50 elements in all.
  Layout& add(std::string name, std::vector<index_t> shape, bool outputs_first = false);

  /// Segments [first, last) as a bucket of their own; offsets start at 0, ids stay.
  Layout slice(std::size_t first, std::size_t last) const;

  /// The same elements as one segment (granularity=bucket); its id is the first segment's.
  Layout fused() const;

  /// A line "NAME 64x3x3" for each segment (of a scalar only NAME), with " outputs-first" where it is so. The option
  /// --layout of gradcomp-evaluate reads it.
  std::string text() const;

  /// One vector of `count` elements that is not a tensor of a model.
  static Layout flat(index_t count, std::string name = "flat");
};

}  // namespace gradcomp
