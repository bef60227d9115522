#include "gradcomp/kernels/linear_algebra/openblas.hpp"

// The symbols are weak, so that programs also link with another BLAS.
extern "C" {
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_config() __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
}

namespace gradcomp::kernels {

void use_one_openblas_thread() {
  static const bool done = [] {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

std::string openblas_description() {
  if (openblas_get_config == nullptr || openblas_get_corename == nullptr) return {};
  return std::string(openblas_get_config()) + " on " + openblas_get_corename();
}

}  // namespace gradcomp::kernels
