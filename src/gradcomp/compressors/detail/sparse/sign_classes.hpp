#pragma once
// The positive and the negative entries of every segment as classes of their own, each of which is sent as its mean:
// the kernels of dryden. With S segments class s holds the positive entries of segment s, class S + s its negative
// ones.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::compressors {

/// All classes as one layout of 2 n elements: positive ones first. A class has a place for every element of its
/// segment.
Layout class_layout(const Layout& layout);

/// magnitudes[i] = max(a, 0) and magnitudes[n + i] = max(-a, 0), with a = Source::accumulate(); NaN in both where the
/// gradient is not finite. `tiles`: of the bucket.
void split_signs(const Exec& exec, const kernels::Tiles& tiles, const Source& source, const Span<float>& magnitudes);

/// Means of classes whose kept magnitudes lie one behind the other.
class ClassMeans {
 public:
  explicit ClassMeans(index_t classes);

  /// values[starts(c) .. starts(c + 1)) of class c -> mean, negative in the second half of the classes, 0 of nothing.
  /// Sums in double, in a fixed order.
  void run(const Exec& exec, const Vector<index_t>& starts, const Span<const float>& values);

  const Vector<float>& means() const { return m_means; }  ///< [classes]
  index_t bytes() const { return static_cast<index_t>(m_partial.size() * 8 + m_means.size() * 4); }

 private:
  Vector<double> m_partial;
  Vector<float> m_means;
};

/// The sections of a payload: three words per segment (f32 mean of the positive, f32 mean of the negative entries, u32
/// number of positive ones), then the indices of all positive and of all negative entries, each ascending.
template <class Word>
struct ClassSections {
  Word* table = nullptr;
  Word* indices = nullptr;
};

/// What kernels know of the segments.
struct ClassSegments {
  const index_t* ends = nullptr;    ///< [segments] one behind each segment's last element
  const index_t* starts = nullptr;  ///< [segments + 1] entries before the positive ones of each
  index_t segments = 0, elements = 0;
};

/// Writes the table, makes places in the class layout indices of the bucket, and reports the means as sent.
void encode_classes(const Exec& exec, const ClassSegments& layout, const Source& source, const Vector<float>& means,
                    index_t positives, index_t kept, const ClassSections<std::uint32_t>& sections);

/// Entries whose index is out of range or order or not of the segment that counts it. Waits for exec.
index_t count_bad_classes(const Exec& exec, const ClassSegments& layout, index_t positives, index_t kept,
                          const ClassSections<const std::uint32_t>& sections);

/// out += weight * means.
void decode_classes(const Exec& exec, const ClassSegments& layout, index_t positives, index_t kept,
                    const ClassSections<const std::uint32_t>& sections, float weight, const Span<float>& out);

}  // namespace gradcomp::compressors
