#include <cblas.h>

#include "blas_contenders.hpp"
#include "gradcomp/kernels/linear_algebra/openblas.hpp"

namespace gradcomp::bench {
namespace {

struct CblasLibrary {
  static constexpr const char* sum = "axpy";

  static std::string routine(const std::string& what) { return "s" + what; }
  static std::string name(const std::string& what) { return "CBLAS " + routine(what); }

  static void gemv(const Exec&, bool transposed, int rows, int columns, const float* a, const float* x, float* y) {
    cblas_sgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, rows, columns, 1, a, columns, x, 1, 0, y, 1);
  }
  static void gemm(const Exec&, bool transposed, int rows, int columns, int inner, const float* a, const float* b,
                   float* c) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, rows, columns, inner, 1, a, inner,
                b, transposed ? inner : columns, 0, c, columns);
  }
  static void axpy(const Exec&, const Span<const float>& x, const Vector<float>& y) {
    cblas_saxpy(static_cast<int>(x.size()), 1, x.data(), 1, y.data(), 1);
  }
  static float nrm2(const Exec&, const Span<const float>& x) {
    return cblas_snrm2(static_cast<int>(x.size()), x.data(), 1);
  }
  static float dot(const Exec&, const Span<const float>& x) {
    return cblas_sdot(static_cast<int>(x.size()), x.data(), 1, x.data(), 1);
  }
};

}  // namespace

std::vector<Contender> cblas_contenders(const SharedBucket& bucket) {
  kernels::use_one_openblas_thread();
  return blas_contenders<CblasLibrary>(bucket);
}

}  // namespace gradcomp::bench
