// npy_copy IN OUT: reads a .npy file and writes it again, for comparison with NumPy (npy_numpy.py).
#include <cstdio>
#include <exception>

#include "gradcomp/data/formats/npy.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto array = gradcomp::data::read_npy(argv[1]);
    gradcomp::data::write_npy(argv[2], array.values, array.shape);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
