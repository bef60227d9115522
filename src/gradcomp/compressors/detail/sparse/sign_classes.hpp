#pragma once
// The kernels of dryden: the positive and the negative entries of every segment are classes of their own, and the
// entries of a class are sent as their mean. With S segments, class s holds the positive entries of segment s and class
// S + s its negative entries.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::compressors {

/// The layout of all classes, 2 n elements: first the positive classes, then the negative ones. A class has a place for
/// every element of its segment.
Layout class_layout(const Layout& layout);

/// magnitudes[i] = max(a, 0) and magnitudes[n + i] = max(-a, 0), with a = Source::accumulate(). Both are NaN if the
/// gradient element is not finite. `tiles` are those of the bucket.
void split_signs(const Exec& exec, const kernels::Tiles& tiles, const Source& source, const Span<float>& magnitudes);

/// Means of classes whose kept magnitudes are stored one class after the other.
class ClassMeans {
 public:
  explicit ClassMeans(index_t classes);

  /// Computes the mean of values[starts(c) .. starts(c + 1)) for each class c: negative in the second half of the
  /// classes, 0 for an empty class. Sums are double, in a fixed order.
  void run(const Exec& exec, const Vector<index_t>& starts, const Span<const float>& values);

  const Vector<float>& means() const { return m_means; }  ///< [classes]
  index_t bytes() const { return static_cast<index_t>(m_partial.size() * 8 + m_means.size() * 4); }

 private:
  Vector<double> m_partial;
  Vector<float> m_means;
};

/// The sections of a payload: three words for each segment (f32 mean of the positive entries, f32 mean of the negative
/// entries, u32 number of positive entries), then the indices of all positive and of all negative entries, each in
/// ascending order.
template <class Word>
struct ClassSections {
  Word* table = nullptr;
  Word* indices = nullptr;
};

/// The segments as the kernels see them.
struct ClassSegments {
  const index_t* ends = nullptr;    ///< [segments] index behind each segment's last element
  const index_t* starts = nullptr;  ///< [segments + 1] number of positive entries before those of each segment
  index_t segments = 0, elements = 0;
};

/// Writes the table, turns places in the class layout into indices of the bucket, and reports the means as sent.
void encode_classes(const Exec& exec, const ClassSegments& layout, const Source& source, const Vector<float>& means,
                    index_t positives, index_t kept, const ClassSections<std::uint32_t>& sections);

/// Counts the entries whose index is out of range or order, or lies in another segment than the one that counts it.
/// Waits for exec.
index_t count_bad_classes(const Exec& exec, const ClassSegments& layout, index_t positives, index_t kept,
                          const ClassSections<const std::uint32_t>& sections);

/// out += weight * the mean of the class, at every entry.
void decode_classes(const Exec& exec, const ClassSegments& layout, index_t positives, index_t kept,
                    const ClassSections<const std::uint32_t>& sections, float weight, const Span<float>& out);

}  // namespace gradcomp::compressors
