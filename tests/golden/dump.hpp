#pragma once
// Writes arrays of a model to files, which the NumPy programs of this folder read.
#include <fstream>
#include <string>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/networks/initialise.hpp"

namespace gradcomp::nn {

template <class T>
void write(const std::string& path, const Vector<T>& values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(host.data()), static_cast<std::streamsize>(host.extent(0) * sizeof(T)));
  require(file.good(), "cannot write {}", path);
}

/// Writes a line "name offset extents..." per tensor to folder/layout.txt.
inline void write_layout(const std::string& folder, const Layout& layout) {
  std::ofstream file(folder + "/layout.txt");
  for (const Segment& segment : layout.segments) {
    file << segment.name << ' ' << segment.offset;
    for (const index_t extent_of : segment.shape) file << ' ' << extent_of;
    file << '\n';
  }
}

/// values += scale x normal numbers of a stream, so that no parameter keeps the special value with which it starts.
template <class T>
void perturb(const Vector<T>& values, index_t stream, double scale) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  for (std::size_t i = 0; i < host.extent(0); ++i) {
    host(i) += static_cast<T>(scale * normal(11, stream, static_cast<index_t>(i)));
  }
  Kokkos::deep_copy(values, host);
}

}  // namespace gradcomp::nn
