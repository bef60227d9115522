// main() of the MPI tests. Rank 0 prints as usual, and the other ranks print only their failures. If a test fails on
// any rank, the job fails.
#include <cstdio>

#include "distributed/world.hpp"
#include "skips.hpp"

namespace gradcomp::test {
namespace {

const MpiSession* the_session = nullptr;

class FailurePrinter final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    fmt::print(stderr, "[rank {}] {}:{}: {}\n", session().rank(), result.file_name() ? result.file_name() : "?",
               result.line_number(), result.summary());
  }
};

}  // namespace

const MpiSession& session() { return *the_session; }

int run(int argc, char** argv, const MpiSession& mpi) {
  the_session = &mpi;
  const Kokkos::ScopeGuard kokkos(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (mpi.rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  } else {
    count_skips();
  }
  const int failed = RUN_ALL_TESTS();
  return max_over_ranks(*world(), {failed == 0 ? 0.0 : 1.0})[0] > 0 ? 1 : 0;
}

}  // namespace gradcomp::test

int main(int argc, char** argv) {
  return gradcomp::run_mpi_program("test_distributed", argc, argv, [&](const gradcomp::MpiSession& session) {
    return gradcomp::test::run(argc, argv, session);
  });
}
