#pragma once
// Arrays between two guard zones.
#include <vector>

#include "copies.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp::conformance {

using test::to_device;
using test::to_host;

/// `count` elements that must not be written outside.
template <class T>
class Guarded {
 public:
  explicit Guarded(index_t count)
      : m_count(count), m_data("gradcomp::conformance::guarded", static_cast<std::size_t>(count + 2 * zone)) {
    fill(T{});
  }

  Span<T> span() const { return subspan(Span<T>(m_data.data(), m_data.size()), zone, m_count); }

  /// All elements = value, guard zones = the pattern.
  void fill(T value) {
    std::vector<T> host(m_data.size(), pattern);
    std::fill(host.begin() + zone, host.end() - zone, value);
    to_device(host, m_data.data());
  }

  std::vector<T> values() const { return to_host<T>(m_data.data() + zone, m_count); }

  bool intact() const {
    const auto host = to_host<T>(m_data.data(), m_count + 2 * zone);
    for (index_t i = 0; i < zone; ++i) {
      if (host[static_cast<std::size_t>(i)] != pattern ||
          host[host.size() - 1 - static_cast<std::size_t>(i)] != pattern)
        return false;
    }
    return true;
  }

 private:
  static constexpr index_t zone = 256;
  static constexpr T pattern = static_cast<T>(-77);
  index_t m_count;
  Vector<T> m_data;
};

}  // namespace gradcomp::conformance
