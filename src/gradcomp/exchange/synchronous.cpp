#include "gradcomp/exchange/synchronous.hpp"

#include <utility>

namespace gradcomp {
namespace {

class Synchronous final : public BucketSchedule {
 public:
  using BucketSchedule::BucketSchedule;

  std::string name() const override { return "synchronous"; }
  void on_ready(const Exec&, std::size_t) override {}
  StepReport end_step(const Exec& exec, const Span<float>& mean) override {
    bool flagged = false;
    for (auto& bucket : m_buckets) {
      for (int round = 0; round < m_rounds; ++round) {
        launch(exec, bucket, round);
        bucket.reducer->complete(exec, round);
      }
      flagged = !bucket.reducer->finish(exec, part(bucket, mean)) || flagged;
    }
    return close(exec, mean, flagged);
  }
};

}  // namespace

std::unique_ptr<Schedule> make_synchronous(const MethodSpec& method, const Layout& layout,
                                           std::unique_ptr<Communicator> comm, const ScheduleOptions& options) {
  return std::make_unique<Synchronous>(method, layout, make_counting(std::move(comm)), options);
}

}  // namespace gradcomp
