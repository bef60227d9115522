#pragma once
// Index lists, guarded device arrays and plain serial encoders, written bit by bit from the description of the formats.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gradcomp/coders/index_coders/elias_fano.hpp"
#include "gradcomp/coders/index_coders/rice.hpp"
#include "gradcomp/core/types.hpp"

namespace coders_test {

using gradcomp::Exec;
using gradcomp::index_t;
using gradcomp::Span;
using gradcomp::coders::IndexCoderEntry;
using Indices = std::vector<std::uint32_t>;
using Bytes = std::vector<std::byte>;

/// A device array with guard bytes on both sides.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t count) : m_count(count), m_data("gradcomp::tests::guarded", bytes()) {
    Kokkos::deep_copy(m_data, std::byte{0xa7});
  }
  explicit Guarded(const std::vector<T>& host) : Guarded(host.size()) {
    Kokkos::deep_copy(Kokkos::View<T*, gradcomp::Memory>(data(), m_count),
                      Kokkos::View<const T*, Kokkos::HostSpace>(host.data(), m_count));
  }

  T* data() const { return reinterpret_cast<T*>(m_data.data() + zone); }
  Span<T> span() const { return Span<T>(data(), m_count); }
  std::vector<T> host(std::size_t count) const {
    std::vector<T> copy(count);
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(copy.data(), count),
                      Kokkos::View<const T*, gradcomp::Memory>(data(), count));
    return copy;
  }
  bool intact() const {
    const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, m_data);
    for (std::size_t i = 0; i < zone; ++i)
      if (copy(i) != std::byte{0xa7} || copy(copy.size() - 1 - i) != std::byte{0xa7}) return false;
    return true;
  }

 private:
  std::size_t bytes() const { return m_count * sizeof(T) + 2 * zone; }
  static constexpr std::size_t zone = 256;
  std::size_t m_count;
  gradcomp::Vector<std::byte> m_data;
};

/// A payload in an allocation of exactly its size, so that tools notice reads behind its end.
class Received {
 public:
  explicit Received(const Bytes& bytes) : m_data("gradcomp::tests::received", bytes.size()) {
    Kokkos::deep_copy(m_data, Kokkos::View<const std::byte*, Kokkos::HostSpace>(bytes.data(), bytes.size()));
  }
  Span<const std::byte> span() const { return Span<const std::byte>(m_data.data(), m_data.size()); }

 private:
  gradcomp::Vector<std::byte> m_data;
};

/// A list that contains each index with probability `density`.
inline Indices random_indices(index_t n, double density, std::uint32_t seed = 1) {
  std::mt19937_64 random(seed);
  std::geometric_distribution<std::int64_t> gap(density);
  Indices indices;
  for (index_t i = gap(random); i < n; i += 1 + gap(random)) indices.push_back(static_cast<std::uint32_t>(i));
  return indices;
}

/// The indices first, first + step, ...
inline Indices regular_indices(index_t first, index_t step, index_t count) {
  Indices indices;
  for (index_t i = 0; i < count; ++i) indices.push_back(static_cast<std::uint32_t>(first + i * step));
  return indices;
}

/// Runs of `run` neighbouring indices, which begin `distance` apart.
inline Indices clustered_indices(index_t n, index_t run, index_t distance) {
  Indices indices;
  for (index_t start = 5; start < n; start += distance)
    for (index_t i = start; i < std::min(n, start + run); ++i) indices.push_back(static_cast<std::uint32_t>(i));
  return indices;
}

/// A list of indices below n.
struct Case {
  std::string name;
  index_t elements;
  Indices indices;
};

inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (const index_t n : {1, 2, 31, 32, 33, 1000}) {
    all.push_back({"none", n, {}});
    all.push_back({"first", n, {0}});
    all.push_back({"last", n, {static_cast<std::uint32_t>(n - 1)}});
    all.push_back({"all", n, regular_indices(0, 1, n)});
    all.push_back({"half", n, random_indices(n, 0.5)});
  }
  const index_t large = 1000003, largest = 0xffffffff;
  for (const double density : {0.001, 0.01, 0.1, 0.5})
    all.push_back({"density " + std::to_string(density), large, random_indices(large, density)});
  all.push_back({"all", large, regular_indices(0, 1, large)});
  all.push_back({"regular", large, regular_indices(2, 100, 10000)});
  all.push_back({"clustered", large, clustered_indices(large, 300, 20000)});
  all.push_back({"front", large, regular_indices(0, 1, 5000)});
  all.push_back({"back", large, regular_indices(large - 5000, 1, 5000)});
  all.push_back({"few", largest, {0, 1, 127, 128, 129, 20000, 0x10000000u, 0x80000000u, 0xfffffffdu, 0xfffffffeu}});
  all.push_back({"one", largest, {0xfffffffeu}});
  all.push_back({"sparse", largest, random_indices(largest, 1e-6)});
  return all;
}

/// A bit string, least significant bit first.
class BitString {
 public:
  void field(std::uint64_t value, int width) {
    for (int b = 0; b < width; ++b) m_bits.push_back((value >> b & 1) != 0);
  }
  void unary(std::uint64_t zeros) {
    m_bits.insert(m_bits.end(), zeros, false);
    m_bits.push_back(true);
  }
  void set(std::uint64_t at) {
    if (at >= m_bits.size()) m_bits.resize(at + 1, false);
    m_bits[at] = true;
  }
  void resize(std::size_t bits) { m_bits.resize(bits, false); }
  /// In whole 32-bit words.
  void append_to(Bytes& bytes) const {
    const std::size_t start = bytes.size();
    bytes.insert(bytes.end(), (m_bits.size() + 31) / 32 * 4, std::byte{0});
    for (std::size_t i = 0; i < m_bits.size(); ++i)
      if (m_bits[i]) bytes[start + i / 8] |= static_cast<std::byte>(1u << (i % 8));
  }

 private:
  std::vector<bool> m_bits;
};

inline std::uint64_t gap_before(const Indices& indices, std::size_t i) {
  return i == 0 ? indices[0] : indices[i] - std::uint64_t{indices[i - 1]} - 1;
}

inline Bytes reference_delta(const Indices& indices) {
  Bytes bytes;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::uint64_t gap = gap_before(indices, i);
    for (; gap >= 128; gap /= 128) bytes.push_back(static_cast<std::byte>(gap % 128 + 128));
    bytes.push_back(static_cast<std::byte>(gap));
  }
  while (bytes.size() % 4 != 0) bytes.push_back(std::byte{0});
  return bytes;
}

inline Bytes reference_rice(const Indices& indices, int width) {
  BitString remainders, quotients;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    remainders.field(gap_before(indices, i), width);
    quotients.unary(gap_before(indices, i) >> width);
  }
  Bytes bytes;
  remainders.append_to(bytes);
  quotients.append_to(bytes);
  return bytes;
}

inline Bytes reference_elias_fano(const Indices& indices, index_t elements, int width) {
  BitString low, high;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    low.field(indices[i], width);
    high.set((std::uint64_t{indices[i]} >> width) + i);
  }
  high.resize(indices.size() + static_cast<std::size_t>((elements - 1) >> width));
  Bytes bytes;
  low.append_to(bytes);
  high.append_to(bytes);
  return bytes;
}

inline bool has_reference(const IndexCoderEntry& coder) {
  const std::set<std::string> known = {"u32", "packed", "bitmap", "delta", "rice", "elias_fano"};
  return known.count(coder.name) == 1;
}

/// The serial encoding of a coder for which has_reference() is true.
inline Bytes reference(const IndexCoderEntry& coder, const Indices& indices, index_t elements) {
  const auto kept = static_cast<index_t>(indices.size());
  BitString bits;
  Bytes bytes;
  if (kept == 0) return bytes;
  if (coder.name == "delta") return reference_delta(indices);
  if (coder.name == "rice") return reference_rice(indices, gradcomp::index_coders::rice_width(elements, kept));
  if (coder.name == "elias_fano")
    return reference_elias_fano(indices, elements, gradcomp::index_coders::elias_fano_width(elements, kept));
  if (coder.name == "bitmap") {
    for (const auto index : indices) bits.set(index);
    bits.resize(static_cast<std::size_t>(elements));
  } else {
    int width = 32;
    if (coder.name == "packed")
      for (width = 0; (index_t{1} << width) < elements;) ++width;
    for (const auto index : indices) bits.field(index, width);
  }
  bits.append_to(bytes);
  return bytes;
}

}  // namespace coders_test
