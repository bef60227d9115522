#pragma once
// What all cases share: the session they run in, how they sample, and the row that they leave behind.
#include <benchmark/benchmark.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"
#include "gradcomp/measure/read_limit.hpp"
#include "gradcomp/report/row.hpp"
#include "options.hpp"

namespace gradcomp::bench {

/// Everything that outlives the single case.
struct Session {
  Exec exec;
  BenchOptions options;
  std::vector<std::string> names;  ///< of all registered cases
  std::deque<report::Row> rows;    ///< of the cases that ran and passed
  bool failed = false;             ///< some answer was wrong

  /// The gradient of this size, made at first use; only the last size is kept.
  Span<const float> gradient(index_t count);

  /// Seconds of one read of `data`, as fast as this build can.
  double read_seconds(const Span<const float>& data);

  /// Timed calls of a case with `count` elements.
  index_t samples(index_t count) const;

 private:
  Vector<float> m_gradient;
  std::unique_ptr<ReadProbe> m_probe;  ///< for arrays up to the size of m_gradient
};

/// Samples of a case in ms: the work, and in turn with it one read of the same gradient.
struct CaseTimes {
  std::vector<double> work, read;
};

/// Runs the benchmark loop: `before` (untimed), `work` (timed; returns the seconds of it that do not count), then the
/// read limit. The first call is a warm-up.
CaseTimes sample(benchmark::State& state, Session& session, const Span<const float>& gradient,
                 const std::function<void()>& before, const std::function<double()>& work);

/// Fills the shared columns and appends the row. `passes`: reads and writes of the gradient's bytes, 0
/// when not declared.
void finish_case(Session& session, report::Row row, const std::string& operation, index_t elements, double passes,
                 const CaseTimes& times);

/// Registers a case that runs `body` and turns what it throws into a failed case.
void add_case(Session& session, const std::string& name, index_t elements,
              std::function<void(benchmark::State&, report::Row)> body);

/// compress/..., decompress/... and pair/... of every method and size.
void add_compressor_cases(Session& session);

/// read/..., copy/..., triad/... of every size and sgemm: what this machine allows.
void add_machine_cases(Session& session);

/// train_step/<model>: forward and backward at batch 128, with its share of the sgemm peak.
void add_model_cases(Session& session);

}  // namespace gradcomp::bench
