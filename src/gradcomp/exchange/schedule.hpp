#pragma once
// The contract of a schedule: when the buckets of a step travel. It owns, per bucket, the compressor's State, the
// feedback, the reducer's state and the output; the trainer only reports readiness and takes the mean gradient.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/communicator.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/exchange/spec.hpp"
#include "gradcomp/measure/timeline.hpp"

namespace gradcomp {

/// What one step moved and kept: summed over buckets, of this rank.
struct StepReport {
  bool skipped = false;       ///< some rank flagged the step: no update, memories were given back, mean is unspecified
  index_t payload_bytes = 0;  ///< messages handed to the exchange, headers excluded
  index_t header_bytes = 0;   ///< their headers
  index_t wire_bytes = 0;     ///< sent by this rank by the algorithms' true volume (counting wrapper)
  std::vector<double> density_ratio;  ///< achieved / target density, one per segment of methods with a target
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual std::string name() const = 0;

  /// Starts a step on `gradient` (layout().count() elements, being filled by backward).
  virtual void begin_step(const Exec& exec, const Span<const float>& gradient, std::int64_t step,
                          Timeline* timeline) = 0;
  /// All segments from `first_segment` on are complete. Buckets are cut from the back of the layout.
  virtual void on_ready(const Exec& exec, std::size_t first_segment) = 0;
  /// Finishes all buckets; `mean` (layout().count() elements) receives the estimate of the mean gradient.
  virtual StepReport end_step(const Exec& exec, const Span<float>& mean) = 0;

  /// Compressor and feedback memories that a checkpoint must hold, and their bytes.
  virtual std::vector<StateView> persistent() = 0;
  /// Work space of compressors and reducers, for the report of memory.
  virtual index_t work_bytes() = 0;
  /// The buckets, in the order in which backward completes them.
  virtual std::vector<BucketRange> buckets() const = 0;
};

/// Options of make_schedule() that are the job's, not the method's.
struct ScheduleOptions {
  std::string schedule = "overlapped";      ///< for methods whose spec says schedule=job
  index_t bucket_bytes = 25 * 1024 * 1024;  ///< gradient bytes fused into one bucket; the first to be ready is <= 1 MiB
  std::uint64_t seed = 1;
};

std::vector<std::string> schedule_names();

/// The schedule of one method. Collective; it communicates on a duplicate of `comm` from then on, on a communication
/// thread when it is overlapped. Checks that all ranks have the same method, layout and options; throws the same
/// AgreedError on every rank when they have not, or when one cannot make its schedule.
std::unique_ptr<Schedule> make_schedule(const MethodSpec& method, const Layout& layout, Communicator& comm,
                                        const ScheduleOptions& options);

}  // namespace gradcomp
