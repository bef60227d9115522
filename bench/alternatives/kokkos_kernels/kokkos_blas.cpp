#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosBlas2_gemv.hpp>
#include <cmath>

#include "contender.hpp"
#include "gradcomp/kernels/arrays.hpp"
#include "gradcomp/kernels/blas.hpp"

namespace gradcomp::bench {
namespace {

using kernels::Transpose;
using RowMajor = Kokkos::View<const float**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
Span<T> elements(T* first, index_t count) {
  return Span<T>(first, static_cast<std::size_t>(count));
}

/// P = M Q, where M's elements begin at `data`.
void multiply(const Bucket& bucket, const float* data, const Vector<float>& p) {
  for (const auto& m : bucket.matrices) {
    const float* const a = data + m.first;
    const float* const q = bucket.q.data() + m.q;
    if (m.rank == 1) {
      KokkosBlas::gemv(bucket.exec, "N", 1.0f, RowMajor(a, m.rows, m.columns), elements(q, m.columns), 0.0f,
                       elements(p.data() + m.p, m.rows));
      continue;
    }
    kernels::gemm<float>(bucket.exec, Transpose::no, Transpose::yes, {m.rank, m.rows, m.columns}, 1, {q, m.columns},
                         {a, m.columns}, 0, {p.data() + m.p, m.rows});
  }
}

/// Q = M^T P.
void multiply_back(const Bucket& bucket, const Vector<float>& q) {
  for (const auto& m : bucket.matrices) {
    const float* const a = bucket.gradient.data() + m.first;
    const float* const p = bucket.p.data() + m.p;
    if (m.rank == 1) {
      KokkosBlas::gemv(bucket.exec, "T", 1.0f, RowMajor(a, m.rows, m.columns), elements(p, m.rows), 0.0f,
                       elements(q.data() + m.q, m.columns));
      continue;
    }
    kernels::gemm<float>(bucket.exec, Transpose::no, Transpose::no, {m.rank, m.columns, m.rows}, 1, {p, m.rows},
                         {a, m.columns}, 0, {q.data() + m.q, m.columns});
  }
}

}  // namespace

std::vector<Contender> kokkos_blas_contenders(const SharedBucket& bucket) {
  const Vector<float> p = bucket->room_for_p(), p_fed_back = bucket->room_for_p(), q = bucket->room_for_q();
  const Vector<float> memory = kernels::zeroed<float>("gradcomp::bench::memory", bucket->layout.count());
  const auto length = std::make_shared<float>(), square = std::make_shared<float>();
  const Span<const float> gradient = bucket->gradient;
  const bool vectors = bucket->matrices.front().rank == 1;
  const std::string product = vectors ? "KokkosBlas::gemv" : "KokkosBlas::gemm";
  return {{"project",
           product,
           {},
           [=] { multiply(*bucket, bucket->gradient.data(), p); },
           [=] { bucket->check_project(p, 1); }},
          {"project, fed back", "KokkosBlas::axpby, then " + product.substr(12),
           [=] { Kokkos::deep_copy(bucket->exec, memory, bucket->gradient); },
           [=] {
             KokkosBlas::axpby(bucket->exec, 1.0f, gradient, 1.0f, memory);
             multiply(*bucket, memory.data(), p_fed_back);
           },
           [=] { bucket->check_project(p_fed_back, 2); }},
          {"project back", product, {}, [=] { multiply_back(*bucket, q); }, [=] { bucket->check_project_back(q); }},
          {"norm",
           "KokkosBlas::nrm2",
           {},
           [=] { *length = KokkosBlas::nrm2(bucket->exec, gradient); },
           [=] { bucket->check_norm(static_cast<double>(*length)); }},
          {"norm",
           "KokkosBlas::dot",
           {},
           [=] { *square = KokkosBlas::dot(bucket->exec, gradient, gradient); },
           [=] { bucket->check_norm(std::sqrt(static_cast<double>(*square))); }}};
}

}  // namespace gradcomp::bench
#endif
