#ifdef GRADCOMP_HAVE_KOKKOSKERNELS
#include <KokkosBatched_ApplyQ_Decl.hpp>
#include <KokkosBatched_Gemm_Decl.hpp>
#include <KokkosBatched_QR_Decl.hpp>

#include "contender.hpp"

namespace gradcomp::bench {
namespace {

using KokkosBatched::Algo;
using KokkosBatched::Side;
using KokkosBatched::Trans;
using Team = Kokkos::TeamPolicy<Exec>;

template <class T, class Layout = Kokkos::LayoutRight>
using Matrix = Kokkos::View<T**, Layout, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// P^T = Q^T M^T, with one work item per matrix.
void project_serial(const Bucket& bucket, const Vector<float>& out) {
  const auto matrices = bucket.matrices_on_device;
  const Span<const float> gradient = bucket.gradient, q = bucket.q;
  Kokkos::parallel_for(
      "gradcomp::bench::project_serial", IndexRange(bucket.exec, 0, static_cast<index_t>(matrices.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const BucketMatrix m = matrices(i);
        KokkosBatched::SerialGemm<Trans::NoTranspose, Trans::Transpose, Algo::Gemm::Blocked>::invoke(
            1.0f, Matrix<const float>(q.data() + m.q, m.rank, m.columns),
            Matrix<const float>(gradient.data() + m.first, m.rows, m.columns), 0.0f,
            Matrix<float>(out.data() + m.p, m.rank, m.rows));
      });
}

/// The same, with one team per matrix.
void project_team(const Bucket& bucket, const Vector<float>& out) {
  const auto matrices = bucket.matrices_on_device;
  const Span<const float> gradient = bucket.gradient, q = bucket.q;
  Kokkos::parallel_for(
      "gradcomp::bench::project_team", Team(bucket.exec, static_cast<int>(matrices.size()), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Team::member_type& team) {
        const BucketMatrix m = matrices(team.league_rank());
        KokkosBatched::TeamGemm<Team::member_type, Trans::NoTranspose, Trans::Transpose, Algo::Gemm::Blocked>::invoke(
            team, 1.0f, Matrix<const float>(q.data() + m.q, m.rank, m.columns),
            Matrix<const float>(gradient.data() + m.first, m.rows, m.columns), 0.0f,
            Matrix<float>(out.data() + m.p, m.rank, m.rows));
      });
}

/// Q^T = P^T M, with one work item per matrix.
void project_back_serial(const Bucket& bucket, const Vector<float>& out) {
  const auto matrices = bucket.matrices_on_device;
  const Span<const float> gradient = bucket.gradient, p = bucket.p;
  Kokkos::parallel_for(
      "gradcomp::bench::project_back_serial", IndexRange(bucket.exec, 0, static_cast<index_t>(matrices.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const BucketMatrix m = matrices(i);
        KokkosBatched::SerialGemm<Trans::NoTranspose, Trans::NoTranspose, Algo::Gemm::Blocked>::invoke(
            1.0f, Matrix<const float>(p.data() + m.p, m.rank, m.rows),
            Matrix<const float>(gradient.data() + m.first, m.rows, m.columns), 0.0f,
            Matrix<float>(out.data() + m.q, m.rank, m.columns));
      });
}

/// The same, with one team per matrix.
void project_back_team(const Bucket& bucket, const Vector<float>& out) {
  const auto matrices = bucket.matrices_on_device;
  const Span<const float> gradient = bucket.gradient, p = bucket.p;
  Kokkos::parallel_for(
      "gradcomp::bench::project_back_team", Team(bucket.exec, static_cast<int>(matrices.size()), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Team::member_type& team) {
        const BucketMatrix m = matrices(team.league_rank());
        KokkosBatched::TeamGemm<Team::member_type, Trans::NoTranspose, Trans::NoTranspose, Algo::Gemm::Blocked>::invoke(
            team, 1.0f, Matrix<const float>(p.data() + m.p, m.rank, m.rows),
            Matrix<const float>(gradient.data() + m.first, m.rows, m.columns), 0.0f,
            Matrix<float>(out.data() + m.q, m.rank, m.columns));
      });
}

/// out = the thin Q of every P = Q R. The reflections overwrite `p`; then they are applied to columns of the identity.
/// `work` has 2 x `most` floats per matrix. (TeamVectorQR cannot be used: it makes as many reflections as there are
/// rows, and so leaves the arrays of a tall matrix.)
void orthogonalise_serial(const Bucket& bucket, const Vector<float>& p, const Vector<float>& work, int most,
                          const Vector<float>& out) {
  const auto matrices = bucket.matrices_on_device;
  Kokkos::parallel_for(
      "gradcomp::bench::orthogonalise_serial", IndexRange(bucket.exec, 0, static_cast<index_t>(matrices.size())),
      KOKKOS_LAMBDA(const index_t i) {
        const BucketMatrix m = matrices(i);
        const Matrix<float, Kokkos::LayoutLeft> a(p.data() + m.p, m.rows, m.rank), q(out.data() + m.p, m.rows, m.rank);
        const Span<float> t(work.data() + 2 * most * i, m.rank), w(work.data() + 2 * most * i + most, m.rank);
        KokkosBatched::SerialQR<Algo::QR::Unblocked>::invoke(a, t, w);
        for (int k = 0; k < m.rank; ++k)
          for (int row = 0; row < m.rows; ++row) q(row, k) = row == k ? 1.0f : 0.0f;
        KokkosBatched::SerialApplyQ<Side::Left, Trans::NoTranspose, Algo::ApplyQ::Unblocked>::invoke(a, t, q, w);
      });
}

}  // namespace

std::vector<Contender> kokkos_batched_contenders(const SharedBucket& bucket) {
  const Vector<float> p = bucket->room_for_p(), basis = bucket->room_for_p(), q = bucket->room_for_q();
  int most = 0;
  for (const auto& m : bucket->matrices) most = Kokkos::max(most, m.rank);
  const Vector<float> work("gradcomp::bench::work", 2 * static_cast<std::size_t>(most) * bucket->matrices.size());
  const auto right_p = [=] { bucket->check_project(p, 1); };
  const auto right_q = [=] { bucket->check_project_back(q); };
  return {{"project", "KokkosBatched::SerialGemm", {}, [=] { project_serial(*bucket, p); }, right_p},
          {"project", "KokkosBatched::TeamGemm", {}, [=] { project_team(*bucket, p); }, right_p},
          {"project back", "KokkosBatched::SerialGemm", {}, [=] { project_back_serial(*bucket, q); }, right_q},
          {"project back", "KokkosBatched::TeamGemm", {}, [=] { project_back_team(*bucket, q); }, right_q},
          {"orthogonalise", "KokkosBatched::SerialQR", [=] { Kokkos::deep_copy(bucket->exec, p, bucket->p); },
           [=] { orthogonalise_serial(*bucket, p, work, most, basis); }, [=] { bucket->check_orthonormal(basis); }}};
}

}  // namespace gradcomp::bench
#endif
