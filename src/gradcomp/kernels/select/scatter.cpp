#include "gradcomp/kernels/select/scatter.hpp"

#include <algorithm>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/note.hpp"

namespace gradcomp::kernels {
namespace {

/// Whether entry i may be there, in a list whose indices are in [begin, end).
KOKKOS_FORCEINLINE_FUNCTION bool is_entry(const std::uint32_t* indices, const float* values, index_t i, index_t begin,
                                          index_t end) {
  const auto index = static_cast<index_t>(indices[i]);
  return index >= begin && index < end && (i == 0 || indices[i - 1] < indices[i]) && Source::is_finite(values[i]);
}

constexpr index_t entries_ahead = 32;

/// Asks for the element that an entry ahead of i will add to. Without it, a core has few such reads under way at once,
/// because the checks between them fill its window of instructions.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_element(const std::uint32_t* indices, index_t i, index_t count,
                                                  const Span<float>& out) {
  if (lanes_are_threads) return;
  const auto last = static_cast<index_t>(out.size()) - 1;
  const auto index = static_cast<index_t>(indices[Kokkos::min(i + entries_ahead, count - 1)]);
  prefetch<true>(out.data() + Kokkos::min(index, last));
}

/// Elements that all messages add to before the next ones: on a host, they stay in the first-level cache.
constexpr index_t block_elements = lanes_are_threads ? 2048 : 8192;

/// Elements of a unit, which are whole blocks: one on a device; on a host several, as each unit first finds its entries
/// in every message.
index_t elements_of_unit(const Exec& exec, index_t n) {
  const index_t units = lanes_are_threads ? n / block_elements + 1 : 8 * index_t{exec.concurrency()};
  return std::max<index_t>(1, n / units / block_elements) * block_elements;
}

/// The entries of one message.
struct SparseEntries {
  const std::uint32_t* indices;
  const float* values;
  index_t count;
  Admission admission;

  KOKKOS_FORCEINLINE_FUNCTION SparseEntries(const SparseMessage& message, const SparseMessages& all, float* out)
      : indices(message.words + payload_header_bytes / 4),
        values(reinterpret_cast<const float*>(indices + message.count)),
        count(message.count),
        admission{message.words, all.expected, all.faults, out} {
    admission.expected.kept = static_cast<std::uint64_t>(count);
  }

  /// first_entry() of all entries from `from` on, in a few steps if it is near.
  KOKKOS_FORCEINLINE_FUNCTION index_t find_near(index_t bound, index_t from) const {
    index_t step = 16;
    while (from + step < count && static_cast<index_t>(indices[from + step]) < bound) step *= 2;
    return first_entry(indices, bound, from, from + step < count ? from + step : count);
  }
};

}  // namespace

index_t count_bad_entries(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count,
                          index_t n) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::kernels::count_bad_entries", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(index_t i, index_t & sum) { sum += is_entry(indices, values, i, 0, n) ? 0 : 1; }, bad);
  wait(exec, "gradcomp::kernels::count_bad_entries");
  return bad;
}

index_t count_non_finite(const Exec& exec, const Span<const float>& values) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::kernels::count_non_finite", IndexRange(exec, 0, static_cast<index_t>(values.size())),
      KOKKOS_LAMBDA(index_t i, index_t & sum) { sum += Source::is_finite(values(i)) ? 0 : 1; }, bad);
  wait(exec, "gradcomp::kernels::count_non_finite");
  return bad;
}

void scatter_add(const Exec& exec, const std::uint32_t* indices, const float* values, index_t count, float weight,
                 const Span<float>& out) {
  Kokkos::parallel_for(
      "gradcomp::kernels::scatter_add", IndexRange(exec, 0, count), KOKKOS_LAMBDA(index_t i) {
        prefetch_element(indices, i, count, out);
        out(indices[i]) += weight * values[i];
      });
}

void sum_messages(const Exec& exec, const SparseMessages& messages, bool from_zero, const Span<float>& out) {
  const auto n = static_cast<index_t>(out.size());
  const index_t unit = elements_of_unit(exec, n);
  constexpr int remembered = lanes_are_threads ? 1 : messages_together;  // a unit of a device is one block
  for_warps(
      "gradcomp::kernels::sum_messages", exec, std::max<index_t>(1, (n + unit - 1) / unit),
      KOKKOS_LAMBDA(const Warp& warp, index_t u) {
        const index_t first = u * unit, last = first + unit < n ? first + unit : n;
        index_t next[remembered];
        index_t begin = first;
        do {  // once without elements, too: headers are read
          const index_t end = begin + block_elements < last ? begin + block_elements : last;
          if (from_zero) fill_zero(warp, out.data() + begin, end - begin);
          for (int m = 0; m < messages.count; ++m) {
            const SparseEntries entries(messages.message[m], messages, n > 0 ? out.data() : nullptr);
            warp.sync();
            if (!admits(warp, entries.admission, begin == 0)) continue;
            // Every entry belongs to one block, however wrong the indices are.
            const float weight = messages.message[m].weight;
            const index_t from = begin == 0       ? 0
                                 : begin == first ? first_entry(entries.indices, begin, 0, entries.count)
                                                  : next[m % remembered];
            const index_t to = end == n      ? entries.count
                               : end == last ? first_entry(entries.indices, end, 0, entries.count)
                                             : entries.find_near(end, from);
            next[m % remembered] = to;
            each_element(warp, to - from, [&](int, index_t e) {
              const index_t i = from + e;
              if (is_entry(entries.indices, entries.values, i, begin, end)) {
                out[entries.indices[i]] += weight * entries.values[i];
              } else {
                messages.faults.broken();
              }
            });
          }
          begin = end;
        } while (begin < last);
      });
}

}  // namespace gradcomp::kernels
