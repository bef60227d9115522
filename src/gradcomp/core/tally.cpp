#include "gradcomp/core/tally.hpp"

#include "gradcomp/core/read_back.hpp"

namespace gradcomp {

void Tally::clear(const Exec& exec) const {
  if constexpr (device_is_host) {
    m_count(0) = 0;
  } else {
    Kokkos::deep_copy(exec, m_count, index_t{0});
  }
}

index_t Tally::read(const Exec& exec) const {
  index_t value = 0;
  read_back(exec, subspan<const index_t>(m_count, 0, 1), &value, "gradcomp::core::Tally");
  return value;
}

}  // namespace gradcomp
