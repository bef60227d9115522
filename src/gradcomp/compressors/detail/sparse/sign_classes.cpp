#include "gradcomp/compressors/detail/sparse/sign_classes.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;

constexpr index_t parts = 16;  ///< of a class, which are summed side by side

/// The segment of element i: the first one that ends behind it.
KOKKOS_INLINE_FUNCTION index_t segment_of(const ClassSegments& layout, index_t i) {
  index_t low = 0, high = layout.segments - 1;
  while (low < high) {
    const index_t middle = (low + high) / 2;
    if (layout.ends[middle] > i) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

Layout class_layout(const Layout& layout) {
  Layout classes;
  for (const char* sign : {"+", "-"}) {
    for (const auto& segment : layout.segments) classes.add(segment.name + sign, {segment.count});
  }
  return classes;
}

void split_signs(const Exec& exec, const kernels::Tiles& tiles, const Source& source, const Span<float>& magnitudes) {
  const auto tile = tiles.tile;
  float* const positive = magnitudes.data();
  float* const negative = positive + source.count;
  kernels::for_warps(
      "gradcomp::compressors::split_signs", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const kernels::Tile here = tile(t);
        for (std::int32_t row = 0; row < here.count; row += kernels::warp_lanes) {
          const int active = here.count - row;
          const index_t i = here.first + row;
          Lanes<float> a, above, below;
          Lanes<std::int32_t> wrong;
          warp.each([&](int l) { wrong[l] = 0; });
          kernels::accumulate_row(warp, source, i, active, a, wrong);
          warp.each([&](int l) {
            const float unknown = Kokkos::Experimental::quiet_NaN_v<float>;
            above[l] = wrong[l] != 0 ? unknown : a[l] > 0 ? a[l] : 0.0f;
            below[l] = wrong[l] != 0 ? unknown : a[l] < 0 ? -a[l] : 0.0f;
          });
          kernels::store_row(warp, positive + i, active, above);
          kernels::store_row(warp, negative + i, active, below);
        }
      });
}

ClassMeans::ClassMeans(index_t classes)
    : m_partial("gradcomp::compressors::class_sums", static_cast<std::size_t>(parts * classes)),
      m_means("gradcomp::compressors::class_means", static_cast<std::size_t>(classes)) {}

void ClassMeans::run(const Exec& exec, const Vector<index_t>& starts, const Span<const float>& values) {
  const auto partial = m_partial;
  const auto means = m_means;
  const auto classes = static_cast<index_t>(m_means.size());
  kernels::for_warps(
      "gradcomp::compressors::class_sums", exec, parts * classes, KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const index_t first = starts(p / parts), count = starts(p / parts + 1) - first;
        const index_t begin = first + count * (p % parts) / parts, end = first + count * (p % parts + 1) / parts;
        Lanes<double> sum;
        warp.each([&](int l) {
          sum[l] = 0;
          for (index_t j = begin + l; j < end; j += kernels::warp_lanes) sum[l] += static_cast<double>(values(j));
        });
        const double total = warp.sum(sum);
        warp.once([&] { partial(p) = total; });
      });
  Kokkos::parallel_for(
      "gradcomp::compressors::class_means", IndexRange(exec, 0, classes), KOKKOS_LAMBDA(index_t c) {
        const index_t count = starts(c + 1) - starts(c);
        double sum = 0;
        for (index_t p = parts * c; p < parts * (c + 1); ++p) sum += partial(p);
        const double mean = count == 0 ? 0 : sum / static_cast<double>(count);
        means(c) = static_cast<float>(2 * c < classes ? mean : -mean);
      });
}

void encode_classes(const Exec& exec, const ClassSegments& layout, const Source& source, const Vector<float>& means,
                    index_t positives, index_t kept, const ClassSections<std::uint32_t>& sections) {
  Kokkos::parallel_for(
      "gradcomp::compressors::class_table", IndexRange(exec, 0, layout.segments), KOKKOS_LAMBDA(index_t s) {
        sections.table[3 * s] = Kokkos::bit_cast<std::uint32_t>(means(s));
        sections.table[3 * s + 1] = Kokkos::bit_cast<std::uint32_t>(means(layout.segments + s));
        sections.table[3 * s + 2] = static_cast<std::uint32_t>(layout.starts[s + 1] - layout.starts[s]);
      });
  Kokkos::parallel_for(
      "gradcomp::compressors::encode_classes", IndexRange(exec, 0, kept), KOKKOS_LAMBDA(index_t j) {
        const bool negative = j >= positives;
        const index_t i = sections.indices[j] - (negative ? layout.elements : 0);
        const index_t segment = segment_of(layout, i);
        sections.indices[j] = static_cast<std::uint32_t>(i);
        source.sent(i, source.load(i), means(segment + (negative ? layout.segments : 0)));
      });
}

index_t count_bad_classes(const Exec& exec, const ClassSegments& layout, index_t positives, index_t kept,
                          const ClassSections<const std::uint32_t>& sections) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::compressors::count_bad_classes", IndexRange(exec, 0, kept),
      KOKKOS_LAMBDA(index_t j, index_t & sum) {
        const index_t i = sections.indices[j];
        bool good = i < layout.elements && (j == 0 || j == positives || sections.indices[j - 1] < sections.indices[j]);
        if (good && j < positives) {
          const index_t s = segment_of(layout, i);
          good = layout.starts[s] <= j && j < layout.starts[s + 1];
        }
        sum += good ? 0 : 1;
      },
      bad);
  wait(exec, "gradcomp::compressors::count_bad_classes");
  return bad;
}

void decode_classes(const Exec& exec, const ClassSegments& layout, index_t positives, index_t kept,
                    const ClassSections<const std::uint32_t>& sections, float weight, const Span<float>& out) {
  for (const index_t sign : {0, 1}) {  // in turn: a hostile payload may name an element in both
    Kokkos::parallel_for(
        "gradcomp::compressors::decode_classes",
        IndexRange(exec, sign == 0 ? 0 : positives, sign == 0 ? positives : kept), KOKKOS_LAMBDA(index_t j) {
          const index_t i = sections.indices[j];
          out(i) += weight * Kokkos::bit_cast<float>(sections.table[3 * segment_of(layout, i) + sign]);
        });
  }
}

}  // namespace gradcomp::compressors
