// priority: exchanges the gradient of every step. The bucket that the next forward pass needs first goes first, and
// each bucket is applied just before the first layer that needs it. So the exchange continues during the next forward
// pass.
//
// As in ByteScheduler (Peng et al., SOSP 2019), a transfer that has started is not interrupted. So only `credit`
// buckets travel at a time, and buckets should be small (bucket_kib). The order is found in the first forward pass:
// that of the layers (forward), or one of TicTac's (detail/transfer_order.hpp); `backward` is the control. Rank 0
// chooses and announces what starts next, and all ranks follow.
//
// The updates are bit for bit those of `overlapped` with equal buckets, except that the mean gradient cannot be clipped
// by its norm, which is known too late. A value that is not finite is known when its step is complete, before the next
// one opens. end() of the next step, or drain(), reports a step once all its buckets are applied.
#include <algorithm>
#include <utility>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/core/side_stream.hpp"
#include "gradcomp/strategy/detail/announcements.hpp"
#include "gradcomp/strategy/detail/bucket_places.hpp"
#include "gradcomp/strategy/detail/bucket_update.hpp"
#include "gradcomp/strategy/detail/credit_window.hpp"
#include "gradcomp/strategy/detail/every_step.hpp"
#include "gradcomp/strategy/detail/first_use.hpp"
#include "gradcomp/strategy/detail/progress_until.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
namespace {

using Phase = BucketUpdate::Phase;

class Priority final : public Strategy {
 public:
  /// The strategy is the only user of `transport`.
  Priority(const StrategySetup& setup, std::unique_ptr<CountingTransport> transport);
  ~Priority() override;

  std::string name() const override { return "priority"; }
  bool in_step() const override { return false; }  // others may need this rank's share of a transfer

  void begin(const Exec& exec, const StepContext& context) override;
  void before_layer(const Exec& exec, std::size_t segment) override;
  void make_current(const Exec& exec, Timeline* timeline) override;
  void gradient_ready(const Exec& exec, std::size_t first_segment) override;
  index_t diverged() override;
  bool progress(const Exec& exec) override;
  StepReport end(const Exec& exec, const Idle& idle) override;
  void wait_for_others(const Exec& exec) override { make_current(exec, nullptr); }
  StepReport drain(const Exec& exec) override;
  Memories memories() override;
  index_t work_bytes() const override;

 private:
  bool start_next(const Exec& exec);
  void start(const Exec& exec, std::size_t bucket);
  bool advance(const Exec& exec, std::size_t bucket);
  bool progress_in_order(const Exec& exec);
  bool update_arrived(const Exec& exec);
  void finish_step(const Exec& exec);
  bool open_step(const Exec& exec);
  template <class Done>
  void progress_while_waiting(const Exec& exec, const Done& done, const Idle& idle);
  void finish(const Exec& exec, const Idle& idle);
  StepReport take_report();

  std::string m_order;
  double m_limit_seconds;
  std::uint64_t m_seed;
  bool m_keep_gradient;
  Faults m_faults;
  std::vector<BucketRange> m_ranges;
  std::vector<std::unique_ptr<BucketUpdate>> m_buckets;
  Vector<float> m_mean;  ///< empty if the mean replaces the gradient
  Announcements m_announced;
  std::unique_ptr<CountingTransport> m_transport;  ///< behind the buffers that it uses, so that it is destroyed first
  CreditWindow m_window;
  FirstUse m_layers;
  StepContext m_now;                    ///< step of the last begin()
  StepContext m_sent;                   ///< step whose buckets are exchanged: this one, or in forward the previous one
  bool m_failed = false;                ///< a peer is gone, or an exchange has failed
  bool m_ordered = false;               ///< whether the window knows the order of urgency
  bool m_begun = false;                 ///< whether gradient_ready() has not been called since begin()
  bool m_backward = false;              ///< backward may still need the parameters of layers whose gradient is complete
  std::size_t m_ready = 0, m_left = 0;  ///< number of buckets of m_sent that are complete, and that are not up to date
  StepReport m_report;
  index_t m_sent_before = 0;  ///< wire bytes that were reported
  SideStream m_side;          ///< of compression and exchange; declared last, so that its work ends before the buffers
};

Priority::Priority(const StrategySetup& setup, std::unique_ptr<CountingTransport> transport)
    : m_order(setup.own.text("order")),
      m_limit_seconds(setup.job.exchange.limit_seconds),
      m_seed(setup.job.exchange.seed),
      m_keep_gradient(setup.job.keep_gradient),
      m_ranges(buckets_of(setup.layout, exchange_options(setup, true))),
      m_announced(*transport, static_cast<int>(m_ranges.size()) * tags_per_reducer, m_ranges.size()),
      m_transport(std::move(transport)),
      m_window(m_ranges.size(), setup.own.integer("credit")) {
  require(m_ranges.size() < max_tag / tags_per_reducer, "strategy priority: {} buckets; allowed: fewer than {}",
          m_ranges.size(), max_tag / tags_per_reducer);
  for (const BucketRange& range : m_ranges) {
    const auto number = static_cast<int>(m_buckets.size());
    m_buckets.push_back(std::make_unique<BucketUpdate>(setup.method, setup.layout, range, *m_transport, m_faults,
                                                       number, setup.job.update));
  }
  if (m_keep_gradient || !setup.method.compressor->info().in_place) {
    m_mean = Vector<float>("gradcomp::strategy::mean", static_cast<std::size_t>(setup.layout.count()));
  }
}

/// Ends the transfers that are in progress between two steps. Otherwise a peer's part of them would reach the next user
/// of the communicator.
Priority::~Priority() {
  if (m_failed || m_backward || m_left == 0) return;
  try {
    drain(Exec());
  } catch (...) {  // an earlier error already ends the job
  }
}

void Priority::begin(const Exec&, const StepContext& context) {
  m_now = context;
  m_begun = true;
  for (auto& bucket : m_buckets) bucket->note_in(context.timeline);
}

void Priority::make_current(const Exec& exec, Timeline* timeline) {
  m_now.timeline = timeline;
  for (auto& bucket : m_buckets) bucket->note_in(timeline);
  finish(exec, {});
}

void Priority::before_layer(const Exec& exec, std::size_t segment) {
  m_layers.note(segment);
  progress(exec);
  if (m_left == 0) return;
  const auto is_current = [&] {
    for (const auto& bucket : m_buckets) {
      if (bucket->phase() != Phase::up_to_date && m_layers.needs(segment, bucket->range())) return false;
    }
    return true;
  };
  progress_while_waiting(exec, is_current, {});
}

/// Makes progress until done(). Throws Error if this takes longer than the limit.
template <class Done>
void Priority::progress_while_waiting(const Exec& exec, const Done& done, const Idle& idle) {
  const auto progress_or_idle = [&] { return progress(exec) || (idle && idle()); };
  if (progress_until(m_now.timeline, m_limit_seconds, done, progress_or_idle)) return;
  m_failed = true;
  m_transport->abandon();
  throw Error(
      fmt::format("strategy priority: no bucket arrived within {} s; a peer is gone or hangs", m_limit_seconds));
}

void Priority::gradient_ready(const Exec& exec, std::size_t first_segment) {
  if (std::exchange(m_begun, false) && !open_step(exec)) return;
  for (; m_ready < m_ranges.size() && m_ranges[m_ready].first >= first_segment; ++m_ready) {
    m_buckets[m_ready]->set_ready();
    if (m_announced.leads()) m_window.add(m_ready);
    m_side.after(exec);
  }
  progress(exec);
}

/// Begins the exchange of a step, when its first gradients are complete. Returns false if the step before has shown
/// that some rank's values are not finite. All ranks know it here, and none exchanges this step.
bool Priority::open_step(const Exec& exec) {
  finish(exec, {});  // the buckets that no layer has asked for
  if (m_faults.diverged()) return false;
  m_backward = true;
  m_sent = m_now;
  m_ready = 0;
  m_left = m_ranges.size();
  for (auto& bucket : m_buckets) {
    bucket->set_computing();
    const Reduction& reduction = bucket->reduction();
    if (!m_announced.leads()) m_announced.expect(reduction.in_any_order() ? 1 : reduction.rounds());
  }
  if (m_announced.leads() && !std::exchange(m_ordered, true)) {
    m_window.order(places_of(m_order, m_ranges, m_layers.buckets_of_layers(m_ranges)));
  }
  return true;
}

/// Starts the bucket that rank 0 announces next; rank 0 chooses and announces it. Returns false if none can start.
bool Priority::start_next(const Exec& exec) {
  if (m_announced.leads()) {
    const auto bucket = m_window.take();
    if (bucket) start(exec, *bucket);
    return bucket.has_value();
  }
  const auto bucket = m_announced.next(exec);
  if (!bucket) return false;
  const Phase phase = m_buckets[*bucket]->phase();
  if (phase != Phase::ready && phase != Phase::between) return false;
  m_announced.take();
  start(exec, *bucket);
  return true;
}

void Priority::start(const Exec& exec, std::size_t bucket) {
  if (m_announced.leads()) m_announced.say(exec, bucket);
  BucketUpdate& update = *m_buckets[bucket];
  if (update.phase() == Phase::between) {
    update.launch_next(exec);
    return;
  }
  update.begin(exec, m_sent.gradient, m_mean.size() > 0 ? Span<float>(m_mean) : m_sent.gradient,
               m_sent.context(*m_transport, m_seed), m_now.timeline);
}

/// Does what can be done with a bucket that was started. Returns false if nothing can. `exec` is that of the side
/// stream, here and in the functions above that start something.
bool Priority::advance(const Exec& exec, std::size_t bucket) {
  BucketUpdate& update = *m_buckets[bucket];
  if (!update.advance(exec)) return false;
  if (update.phase() == Phase::arrived) {
    if (m_announced.leads()) m_window.give_back();
  } else if (update.reduction().in_any_order()) {
    update.launch_next(exec);
  } else if (m_announced.leads()) {
    start(exec, bucket);
  }
  return true;
}

bool Priority::progress(const Exec& exec) {
  if (m_left == 0) return false;
  try {
    return progress_in_order(exec);
  } catch (...) {
    m_failed = true;
    throw;
  }
}

bool Priority::progress_in_order(const Exec& exec) {
  bool moved = false;
  const Exec& side = m_side.beside(exec);
  for (std::size_t b = 0; b < m_buckets.size(); ++b) moved = advance(side, b) || moved;
  while (start_next(side)) moved = true;
  return (!m_backward && update_arrived(exec)) || moved;
}

bool Priority::update_arrived(const Exec& exec) {
  const auto has_arrived = [](const auto& bucket) { return bucket->phase() == Phase::arrived; };
  if (std::none_of(m_buckets.begin(), m_buckets.end(), has_arrived)) return false;
  m_side.join(exec);
  for (auto& bucket : m_buckets) {
    if (!has_arrived(bucket)) continue;
    bucket->apply(exec, m_sent.parameters);
    --m_left;
  }
  if (m_left == 0) finish_step(exec);
  return true;
}

void Priority::finish_step(const Exec& exec) {
  for (const auto& bucket : m_buckets) add(m_report, bucket->reduction());
  m_faults.fetch(exec);
}

/// Known when all buckets of a step are applied: before the next one opens, or after drain().
index_t Priority::diverged() { return m_left == 0 && m_faults.diverged() ? m_sent.step : -1; }

StepReport Priority::take_report() {
  const index_t all = m_transport->ledger().total().sent;
  m_report.wire_bytes = all - std::exchange(m_sent_before, all);
  return std::exchange(m_report, {});
}

StepReport Priority::end(const Exec& exec, const Idle& idle) {
  gradient_ready(exec, 0);
  m_backward = false;
  progress(exec);
  if (m_keep_gradient) finish(exec, idle);  // the gradient's user also reads the memories
  return take_report();
}

void Priority::finish(const Exec& exec, const Idle& idle) {
  progress_while_waiting(exec, [&] { return m_left == 0; }, idle);
}

StepReport Priority::drain(const Exec& exec) {
  make_current(exec, nullptr);
  m_announced.settle();
  return take_report();
}

Memories Priority::memories() {
  Memories all;
  for (auto& bucket : m_buckets) {
    for (MemoryView& memory : bucket->memories()) all.push_back(std::move(memory));
  }
  return all;
}

index_t Priority::work_bytes() const {
  index_t sum = 4 * static_cast<index_t>(m_mean.size());
  for (const auto& bucket : m_buckets) sum += bucket->work_bytes();
  return sum;
}

/// Collective.
std::unique_ptr<Strategy> make(const StrategySetup& setup) {
  if (!setup.method.compressor->info().travels) return std::make_unique<EveryStep>(setup, true);
  run_collectively(setup.transport, [&] {
    require(setup.job.update.clip == 0,
            "strategy priority: the first layers are updated before the norm of the whole mean is known; allowed: "
            "--clip 0");
  });
  require_same_exchange(setup.method, setup.layout, setup.transport, exchange_options(setup, true), "priority");
  auto own = setup.transport.split(0, setup.transport.rank());
  std::unique_ptr<Strategy> strategy;
  run_collectively(setup.transport, [&] {
    own = make_queued(std::move(own), setup.job.exchange.limit_seconds);
    strategy = std::make_unique<Priority>(setup, make_counting(std::move(own)));
  });
  return strategy;
}

}  // namespace

StrategyEntry priority() {
  return {"priority",
          "exchanges the gradient of every step, first what the next forward pass needs first; updates layers just "
          "before use",
          with_common(
              {Parameter::choice("order", "forward", {"forward", "tic", "tac", "backward"},
                                 "which of the complete buckets is sent first"),
               Parameter::integer("credit", "2", 1, 1 << 20, "number of buckets that are exchanged at the same time")}),
          make};
}

}  // namespace gradcomp::strategies
