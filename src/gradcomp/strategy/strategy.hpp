#pragma once
// The contract of a strategy: when and with whom replicas agree. It owns the exchange, with its memories, and the
// updater. The trainer knows the batch, forward, backward and which tensors are ready, but no exchange. To add a
// strategy, add a file to strategy/strategies/ (docs/extend.md).
//
// One step:  begin(); in forward before_layer() ..; in backward gradient_ready() ..; end()
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/exchange/exchange.hpp"
#include "gradcomp/strategy/updater.hpp"

namespace gradcomp {

/// One step of the training. The trainer owns the arrays, which stay the same from step to step.
struct StepContext {
  index_t step = 0;
  double rate = 0;       ///< learning rate
  Span<float> gradient;  ///< backward fills it; the strategy may overwrite it in end()
  Span<float> parameters;
  Span<float> buffers;  ///< of the model besides its parameters: running statistics, hidden state
  Timeline* timeline = nullptr;
  std::int64_t exchange = -1;  ///< Context::exchange

  /// Where the step happens for those who exchange over `transport`.
  Context context(const Transport& transport, std::uint64_t seed) const;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string name() const = 0;
  /// Number of ranks, the last ones, that train on no batches. There a trainer calls begin() and end() alone, in which
  /// the rank serves the others.
  virtual int dedicated_ranks() const { return 0; }
  /// Steps from one exchange to the next. A trainer times in multiples of it.
  virtual index_t period() const { return 1; }
  /// A trainer evaluates after multiples of so many steps. Within a period of local steps, a rank's running statistics
  /// are newer than the parameters on which all ranks agree.
  virtual index_t evaluation_period() const { return period(); }
  /// Whether all ranks are in the same step when end() returns. A trainer may then synchronise them before each step.
  /// Otherwise a rank must not wait outside the strategy until wait_for_others() has returned, because others may wait
  /// for it.
  virtual bool in_step() const { return true; }

  /// Begins a step, before forward.
  virtual void begin(const Exec& exec, const StepContext& context) = 0;
  /// In forward, before the layer that begins with this segment: makes its parameters current.
  virtual void before_layer(const Exec& /*exec*/, std::size_t /*segment*/) {}
  /// Between steps: makes all parameters current, for other readers than forward. Records its times in `timeline`.
  virtual void make_current(const Exec& /*exec*/, Timeline* /*timeline*/) {}
  /// In backward: tells that the gradients of all segments from `first_segment` on are complete.
  virtual void gradient_ready(const Exec& exec, std::size_t first_segment) = 0;
  /// Ends the step: exchanges and updates as the strategy does. Calls `idle` while it waits.
  virtual StepReport end(const Exec& exec, const Idle& idle) = 0;
  /// The step in which an exchange showed that some rank's values are not finite; -1: none. The run then ends. Call it
  /// after end() or drain(). Equal on all ranks if in_step(); otherwise ranks may learn it in different steps, and this
  /// rank takes part in further ones by begin() and end() alone until the next drain().
  virtual index_t diverged() { return -1; }
  /// Call it after end() with the mean loss of this rank's batch in the step.
  virtual void observe(double /*loss*/) {}
  /// Waits until no step of another rank needs this one. With a strategy that is not in step, a trainer counts this
  /// time as that of the steps so far. drain() follows.
  virtual void wait_for_others(const Exec& /*exec*/) {}
  /// Finishes everything that is in progress, so that memories are complete. Call it before evaluations, checkpoints
  /// and hashes. Returns what end() has not yet reported of earlier steps. Throws Error if a message was broken.
  virtual StepReport drain(const Exec& /*exec*/) { return {}; }
  /// Does a share of the work of a server or an engine. Call it between layers and while others wait. Returns false if
  /// there was no work.
  virtual bool progress(const Exec& /*exec*/) { return false; }

  /// The parameters on which all ranks agree, which are evaluated and hashed. `parameters` are the trainer's.
  virtual Span<const float> agreed(const Span<const float>& parameters) const { return parameters; }

  virtual Memories memories() = 0;
  /// Bytes of work space, for the report of memory.
  virtual index_t work_bytes() const = 0;
};

/// The options of make_strategy() that belong to the job.
struct StrategyOptions {
  std::string strategy = "overlapped";  ///< spec name:key=value, for methods with strategy=job
  ExchangeOptions exchange;
  UpdateOptions update;
  bool keep_gradient = false;  ///< whether end() must leave the gradient as it is
};

/// What a strategy is made of.
struct StrategySetup {
  const MethodSpec& method;
  const Layout& layout;
  index_t buffers = 0;  ///< number of elements in StepContext::buffers
  Transport& transport;
  const StrategyOptions& job;
  const ParameterValues& own;  ///< values of the entry's parameters
};

/// What strategies/<name>.cpp defines: `StrategyEntry gradcomp::strategies::<name>()`.
struct StrategyEntry {
  std::string name;
  std::string summary;                ///< one line
  std::vector<Parameter> parameters;  ///< strategy.KEY=VALUE of a method, KEY=VALUE of --strategy
  /// Collective.
  std::function<std::unique_ptr<Strategy>(const StrategySetup& setup)> make;
};

/// All entries, sorted by name. The generated source of the strategy layer defines it.
const std::vector<StrategyEntry>& all_strategies();

/// The strategy of one method in a job: its entry and all options, with defaults filled in.
struct StrategyChoice {
  const StrategyEntry& entry;
  ParameterValues own;
};
/// The choice of the method, or `job` if the method leaves it to the job. For an unknown name or option, throws an
/// Error that says what is allowed.
StrategyChoice choose_strategy(const MethodSpec& method, const std::string& job);

/// Collective. Throws the same AgreedError on every rank if ranks want different strategies, or if a rank cannot make
/// its strategy.
std::unique_ptr<Strategy> make_strategy(const MethodSpec& method, const Layout& layout, index_t buffers,
                                        Transport& transport, const StrategyOptions& options);

/// The update options of a method in a job. Momentum is applied once: by the feedback if it has momentum, otherwise by
/// the optimiser. Votes get no momentum: all their steps have one size, and a momentum of 0.9 would make them ten times
/// as long (signum applies its momentum before it takes the signs). Methods with Info::rate_inside get none either, as
/// in the authors' work. Throws Error if the optimiser cannot run without momentum.
UpdateOptions update_options(const UpdateOptions& job, const MethodSpec& method);

}  // namespace gradcomp
