#include <cmath>

#include "contender.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/linear_algebra/householder.hpp"
#include "gradcomp/kernels/linear_algebra/norm_clip.hpp"

namespace gradcomp::bench {
namespace {

Source source_of(const Bucket& bucket, float* memory) {
  Source source;
  source.kind = memory == nullptr ? Source::Kind::none : Source::Kind::residual;
  source.count = bucket.layout.count();
  source.gradient = bucket.gradient.data();
  source.memory = memory;
  return source;
}

Contender project(const SharedBucket& bucket, bool fed_back) {
  const Vector<float> p = bucket->room_for_p(),
                      memory = kernels::zeroed<float>("gradcomp::bench::memory", fed_back ? bucket->layout.count() : 0);
  const Vector<float> dense = kernels::zeroed<float>("gradcomp::bench::dense", bucket->plan.dense_count());
  const Source source = source_of(*bucket, fed_back ? memory.data() : nullptr);
  std::function<void()> before;
  if (fed_back) before = [=] { Kokkos::deep_copy(bucket->exec, memory, bucket->gradient); };
  return {fed_back ? "project, fed back" : "project", "gradcomp", before,
          [=] { bucket->plan.project(bucket->exec, source, bucket->q, p, dense, Mark()); },
          [=] { bucket->check_project(p, fed_back ? 2 : 1); }};
}

Contender project_back(const SharedBucket& bucket) {
  const Vector<float> q = bucket->room_for_q();
  const Source source = source_of(*bucket, nullptr);
  return {"project back",
          "gradcomp",
          {},
          [=] { bucket->plan.project_back(bucket->exec, source, bucket->p, q); },
          [=] { bucket->check_project_back(q); }};
}

Contender orthogonalise(const SharedBucket& bucket, bool householder) {
  const Vector<float> p = bucket->room_for_p();
  return {"orthogonalise", householder ? "gradcomp, Householder" : "gradcomp",
          [=] { Kokkos::deep_copy(bucket->exec, p, bucket->p); },
          [=] {
            const auto& columns = bucket->plan.p_columns();
            if (householder) return kernels::orthogonalise_householder(bucket->exec, columns, p);
            kernels::orthogonalise(bucket->exec, columns, p);
          },
          [=] { bucket->check_orthonormal(p); }};
}

/// The sums of squares that clipping needs. The check finds the norm from the factor with which it clips.
Contender norm(const SharedBucket& bucket) {
  const auto clip = std::make_shared<kernels::NormClip>(bucket->layout.count());
  return {"norm",
          "gradcomp",
          {},
          [=] { clip->observe(bucket->exec, 0, bucket->gradient); },
          [=] {
            const Vector<float> one = kernels::zeroed<float>("gradcomp::bench::one", 1);
            Kokkos::deep_copy(bucket->exec, one, 1.0f);
            constexpr double limit = 1e-6;  // below all norms that occur here
            clip->scale(bucket->exec, one, limit);
            float scale = 0;
            read_back(bucket->exec, Span<const float>(one), &scale, "gradcomp::bench::norm");
            bucket->check_norm(limit / static_cast<double>(scale));
          }};
}

}  // namespace

std::vector<Contender> our_contenders(const SharedBucket& bucket) {
  return {project(bucket, false),       project(bucket, true),       project_back(bucket),
          orthogonalise(bucket, false), orthogonalise(bucket, true), norm(bucket)};
}

}  // namespace gradcomp::bench
