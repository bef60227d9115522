#pragma once
// Comparisons of arrays bit by bit. std::memcmp() alone allows no null pointers, which empty arrays may have.
#include <cstring>
#include <vector>

namespace gradcomp::test {

template <class T>
bool same_bits(const T* a, const T* b, std::size_t count) {
  return count == 0 || std::memcmp(a, b, count * sizeof(T)) == 0;
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

}  // namespace gradcomp::test
