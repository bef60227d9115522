#include <cblas.h>

#include <cmath>

#include "contender.hpp"
#include "gradcomp/kernels/arrays.hpp"
#include "gradcomp/kernels/openblas.hpp"

namespace gradcomp::bench {
namespace {

/// P = M Q, where M's elements begin at `data`.
void multiply(const Bucket& bucket, const float* data, const Vector<float>& p) {
  for (const auto& m : bucket.matrices) {
    const float* const a = data + m.first;
    const float* const q = bucket.q.data() + m.q;
    if (m.rank == 1) {
      cblas_sgemv(CblasRowMajor, CblasNoTrans, m.rows, m.columns, 1, a, m.columns, q, 1, 0, p.data() + m.p, 1);
      continue;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m.rank, m.rows, m.columns, 1, q, m.columns, a, m.columns, 0,
                p.data() + m.p, m.rows);
  }
}

/// Q = M^T P.
void multiply_back(const Bucket& bucket, const Vector<float>& q) {
  for (const auto& m : bucket.matrices) {
    const float* const a = bucket.gradient.data() + m.first;
    const float* const p = bucket.p.data() + m.p;
    if (m.rank == 1) {
      cblas_sgemv(CblasRowMajor, CblasTrans, m.rows, m.columns, 1, a, m.columns, p, 1, 0, q.data() + m.q, 1);
      continue;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m.rank, m.columns, m.rows, 1, p, m.rows, a, m.columns, 0,
                q.data() + m.q, m.columns);
  }
}

}  // namespace

std::vector<Contender> cblas_contenders(const SharedBucket& bucket) {
  kernels::use_one_openblas_thread();
  const Vector<float> p = bucket->room_for_p(), p_fed_back = bucket->room_for_p(), q = bucket->room_for_q();
  const Vector<float> memory = kernels::zeroed<float>("gradcomp::bench::memory", bucket->layout.count());
  const auto length = std::make_shared<float>(), square = std::make_shared<float>();
  const float* const gradient = bucket->gradient.data();
  const auto count = static_cast<int>(bucket->gradient.size());
  const bool vectors = bucket->matrices.front().rank == 1;
  const std::string product = vectors ? "sgemv" : "sgemm";
  return {{"project",
           "CBLAS " + product,
           {},
           [=] { multiply(*bucket, gradient, p); },
           [=] { bucket->check_project(p, 1); }},
          {"project, fed back", "CBLAS saxpy, then " + product,
           [=] { Kokkos::deep_copy(bucket->exec, memory, bucket->gradient); },
           [=] {
             cblas_saxpy(count, 1, gradient, 1, memory.data(), 1);
             multiply(*bucket, memory.data(), p_fed_back);
           },
           [=] { bucket->check_project(p_fed_back, 2); }},
          {"project back",
           "CBLAS " + product,
           {},
           [=] { multiply_back(*bucket, q); },
           [=] { bucket->check_project_back(q); }},
          {"norm",
           "CBLAS snrm2",
           {},
           [=] { *length = cblas_snrm2(count, gradient, 1); },
           [=] { bucket->check_norm(static_cast<double>(*length)); }},
          {"norm",
           "CBLAS sdot",
           {},
           [=] { *square = cblas_sdot(count, gradient, 1, gradient, 1); },
           [=] { bucket->check_norm(std::sqrt(static_cast<double>(*square))); }}};
}

}  // namespace gradcomp::bench
