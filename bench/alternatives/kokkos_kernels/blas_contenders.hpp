#pragma once
// The operations with a library that has the interface of BLAS, with one call per matrix. A Library provides
//   sum                                       its routine for y += x
//   static std::string name(routine)          as tables show it, such as "CBLAS sgemm"
//   static std::string routine(routine)       the same without the name of the library
//   static gemv(exec, transposed, rows, columns, a, x, y)           y = A x or A^T x, A row-major
//   static gemm(exec, transposed, rows, columns, inner, a, b, c)    C = A B or A B^T, all row-major
//   static axpy(exec, x, y)                                         y += x
//   static float nrm2(exec, x), dot(exec, x)                        L2 norm; product of x with itself
#include <cmath>

#include "contender.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"

namespace gradcomp::bench {

/// P = M Q, with the elements of all M at `data`.
template <class Library>
void multiply(const Bucket& bucket, const float* data, const Vector<float>& p) {
  for (const auto& m : bucket.matrices) {
    const float *const a = data + m.first, *const q = bucket.q.data() + m.q;
    if (m.rank == 1) {
      Library::gemv(bucket.exec, false, m.rows, m.columns, a, q, p.data() + m.p);
    } else {
      Library::gemm(bucket.exec, true, m.rank, m.rows, m.columns, q, a, p.data() + m.p);
    }
  }
}

/// Q = M^T P.
template <class Library>
void multiply_back(const Bucket& bucket, const Vector<float>& q) {
  for (const auto& m : bucket.matrices) {
    const float *const a = bucket.gradient.data() + m.first, *const p = bucket.p.data() + m.p;
    if (m.rank == 1) {
      Library::gemv(bucket.exec, true, m.rows, m.columns, a, p, q.data() + m.q);
    } else {
      Library::gemm(bucket.exec, false, m.rank, m.columns, m.rows, p, a, q.data() + m.q);
    }
  }
}

template <class Library>
std::vector<Contender> blas_contenders(const SharedBucket& bucket) {
  const Vector<float> p = bucket->room_for_p(), p_fed_back = bucket->room_for_p(), q = bucket->room_for_q();
  const Vector<float> memory = kernels::zeroed<float>("gradcomp::bench::memory", bucket->layout.count());
  const auto length = std::make_shared<float>(), square = std::make_shared<float>();
  const Span<const float> gradient = bucket->gradient;
  const std::string product = bucket->matrices.front().rank == 1 ? "gemv" : "gemm";
  return {{"project",
           Library::name(product),
           {},
           [=] { multiply<Library>(*bucket, gradient.data(), p); },
           [=] { bucket->check_project(p, 1); }},
          {"project, fed back", Library::name(Library::sum) + ", then " + Library::routine(product),
           [=] { Kokkos::deep_copy(bucket->exec, memory, bucket->gradient); },
           [=] {
             Library::axpy(bucket->exec, gradient, memory);
             multiply<Library>(*bucket, memory.data(), p_fed_back);
           },
           [=] { bucket->check_project(p_fed_back, 2); }},
          {"project back",
           Library::name(product),
           {},
           [=] { multiply_back<Library>(*bucket, q); },
           [=] { bucket->check_project_back(q); }},
          {"norm",
           Library::name("nrm2"),
           {},
           [=] { *length = Library::nrm2(bucket->exec, gradient); },
           [=] { bucket->check_norm(static_cast<double>(*length)); }},
          {"norm",
           Library::name("dot"),
           {},
           [=] { *square = Library::dot(bucket->exec, gradient); },
           [=] { bucket->check_norm(std::sqrt(static_cast<double>(*square))); }}};
}

}  // namespace gradcomp::bench
