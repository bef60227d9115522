#pragma once
// The exchange of one model's gradient under one method: a vector of reductions, one per bucket, and the order in which
// their rounds travel. A strategy owns one and decides when there is something to exchange.
//
// Overlapped: a bucket is compressed and its exchange started as soon as it is complete, while others are still being
// computed. On a device this work has a stream of its own, beside that of the caller. Rounds are exchanged in a fixed
// order (round 0 of bucket 0, 1, .., then round 1 of bucket 0, 1, ..), which is the same on all ranks and does not
// depend on the order of readiness. Not overlapped: all buckets are exchanged at the end, one after the other, and each
// round waits for its exchange. This is the plain reference, and the easiest to profile.
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "gradcomp/comm/counting.hpp"
#include "gradcomp/core/side_stream.hpp"
#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/exchange/reduction.hpp"

namespace gradcomp {

/// What one step moved and kept on this rank, summed over buckets.
struct StepReport {
  index_t payload_bytes = 0;  ///< of the messages that the exchange carries, headers excluded
  index_t header_bytes = 0;   ///< of the headers of these messages
  index_t wire_bytes = 0;     ///< what this rank sends, by the true volume of the algorithms (counting transport)
  std::vector<double> density_ratio;  ///< achieved / target density, one per segment of methods with a target
  /// Of servers: updates between the parameters of a gradient and the update by it, one per gradient that this rank's
  /// server applied.
  std::vector<index_t> staleness;
};

/// Appends the achieved / target densities of a sender's last step, one per segment with a target.
void append_density(const Sender& sender, std::vector<double>& ratios);

/// Adds what the last step of a bucket moved and kept, except wire bytes, which only the transport knows.
void add(StepReport& report, const Reduction& bucket);

/// Does one slice of other work while an exchange is in progress, and returns false if there is none. May be empty.
using Idle = std::function<bool()>;

struct ExchangeOptions {
  bool overlapped = true;
  index_t bucket_bytes = 0;  ///< 0: sizes that follow from the model (cut_buckets())
  std::uint64_t seed = 1;
  double limit_seconds = 0;  ///< how long to wait for a call; 0: no limit
};

class Exchange {
 public:
  /// Use make_exchange(). The exchange is the only user of `transport`.
  Exchange(const MethodSpec& method, const Layout& layout, std::unique_ptr<CountingTransport> transport,
           const ExchangeOptions& options);

  /// Whether `gradient` and `mean` may be one array.
  bool in_place() const { return m_method.compressor->info().in_place; }

  /// Starts a step on `gradient`, which is still being filled. Its mean will be in `mean`. Both have as many elements
  /// as the model. Throws Error for other sizes.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context,
             Timeline* timeline);
  /// Tells that all segments from `first_segment` on are complete.
  void gradient_ready(const Exec& exec, std::size_t first_segment);
  /// Finishes all buckets: their means are written. `idle` does other work during the waits.
  void finish(const Exec& exec, const Idle& idle = {});
  /// What the step moved and kept. Call it after finish().
  StepReport report() const;
  /// Whether some rank's values were not finite, as of the last finish(), for which this waits on a device. Equal on
  /// all ranks. Throws Error if a message was broken.
  bool diverged() const { return m_faults.diverged(); }

  /// The memories of all buckets; MemoryView::bucket is the number of the bucket.
  Memories memories();
  /// Work space of compressors and reducers, for the report of memory.
  index_t work_bytes() const;
  /// The buckets, in the order in which backward completes them.
  const std::vector<BucketRange>& buckets() const { return m_ranges; }
  Transport& transport() { return *m_transport; }
  /// Wire bytes that this rank has sent over transport() so far.
  index_t sent() const { return m_transport->ledger().total().sent; }

 private:
  /// Where the work of this exchange runs: overlapped beside the caller's, otherwise on `exec`.
  const Exec& after(const Exec& exec) { return m_side ? m_side->after(exec) : exec; }
  void join(const Exec& exec) {
    if (m_side) m_side->join(exec);
  }
  void launch(const Exec& exec, std::size_t bucket);
  void complete(const Exec& exec, std::size_t bucket, const Idle& idle);

  MethodSpec m_method;
  Faults m_faults;
  /// the transport uses their buffers, so it is destroyed before them
  std::vector<std::unique_ptr<Reduction>> m_reductions;
  std::unique_ptr<CountingTransport> m_transport;
  index_t m_count;  ///< number of elements of the model
  std::vector<BucketRange> m_ranges;
  int m_rounds = 1;           ///< per step, of every reduction
  double m_idle_portion = 0;  ///< seconds of the last portion of work that filled a wait

  Span<const float> m_gradient;  ///< of this step, as are all members below
  Span<float> m_mean;
  Context m_context;
  Timeline* m_timeline = nullptr;
  std::size_t m_launched = 0;  ///< number of buckets whose round 0 was launched
  index_t m_sent_before = 0;   ///< wire bytes before this step

  std::optional<SideStream> m_side;  ///< only if overlapped; declared last, so that its work ends before the buffers do
};

/// Makes the exchange of one method. Collective. The exchange communicates over a duplicate of `transport`. If it is
/// overlapped or has a time limit, and the transport does not overlap by itself, it uses a communication thread. Throws
/// the same AgreedError on every rank if ranks have different methods, layouts or options, or if a rank cannot make its
/// exchange.
std::unique_ptr<Exchange> make_exchange(const MethodSpec& method, const Layout& layout, Transport& transport,
                                        const ExchangeOptions& options);

/// Collective. Throws the same AgreedError on every rank unless all ranks have the same method, layout, buckets and
/// seed, and the same `how`, which describes the other settings.
void require_same_exchange(const MethodSpec& method, const Layout& layout, Transport& transport,
                           const ExchangeOptions& options, const std::string& how);

/// The buckets of a layout under these options.
std::vector<BucketRange> buckets_of(const Layout& layout, const ExchangeOptions& options);

}  // namespace gradcomp
