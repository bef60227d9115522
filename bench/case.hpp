#pragma once
// What all cases share: the session in which they run, how they sample, and the row that they add to the results.
#include <benchmark/benchmark.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/types.hpp"
#include "gradcomp/measure/read_limit.hpp"
#include "gradcomp/report/row.hpp"
#include "input.hpp"
#include "options.hpp"

namespace gradcomp::bench {

/// The samples of a case in ms: the work, and one read of the same gradient after each call.
struct CaseTimes {
  std::vector<double> work, read;
};

/// A case before it runs.
struct Case {
  std::string name;
  index_t elements;  ///< determines the number of samples
  std::function<void(benchmark::State&, report::Row)> body;
  std::string group = {};  ///< cases of the same group are interleaved; empty: runs alone
};

/// Everything that outlives a single case.
struct Session {
  Exec exec;
  BenchOptions options;
  std::vector<Input> inputs;
  double memory_bytes = 0;            ///< memory that a case may take
  std::vector<Case> cases;            ///< all that were added, in order
  std::vector<std::string> left_out;  ///< a line for each case or group of cases that was not added
  std::deque<report::Row> rows;       ///< of the cases that ran and passed
  std::vector<std::string> failures;  ///< cases whose answer was wrong, each with what was wrong

  /// The first gradient of the input, made at first use. Only the gradients of the last input are kept.
  Span<const float> gradient(const Input& input);
  /// Replaces the gradient by the next one of the same input.
  void next_gradient();
  /// The number of gradients of the input.
  index_t stream_length() const { return m_stream.length(); }

  /// Seconds of one read of `data`, as fast as this build can do it.
  double read_seconds(const Span<const float>& data);

  /// The peak of sgemm in GFLOP/s. It is measured once, at first use, so that all shares of it are comparable.
  double sgemm_peak();

  /// Timed calls of a case with `count` elements.
  index_t samples(index_t count) const;

  /// With cache=cold: writes an array larger than the last-level cache.
  void evict();

  /// Whether `what`, which takes `bytes_per_element`, fits into the memory for this input. If not, it is noted for
  /// explain_misfits().
  bool fits(const Input& input, const std::string& what, double bytes_per_element);
  /// Adds one line to `left_out` for each input for which something did not fit.
  void explain_misfits();

  std::map<std::string, CaseTimes> collected;  ///< the samples so far, by case
  bool last_round = true;                      ///< whether the running case ends with this round and adds its row

 private:
  std::string m_held;  ///< name of the input whose gradients m_stream holds
  GradientStream m_stream;
  std::unique_ptr<ReadProbe> m_probe;  ///< for arrays up to the size of a gradient
  Vector<float> m_evictor;
  double m_sgemm_peak = 0;                                    ///< 0: not measured yet
  std::map<std::string, std::vector<std::string>> m_misfits;  ///< by input
};

/// Runs the benchmark loop: `before` (untimed), `work` (timed; returns the part of its seconds that does not count),
/// then the read limit. One more call comes first and is not counted.
CaseTimes sample(benchmark::State& state, Session& session, const Span<const float>& gradient,
                 const std::function<void()>& before, const std::function<double()>& work);

/// Collects the samples. After the last round, fills the shared columns with the samples of all rounds and appends the
/// row. `passes`: reads and writes of the bytes of the gradient; 0 if they are not declared.
void finish_case(Session& session, report::Row row, const std::string& operation, const Input& input, double passes,
                 const CaseTimes& times);

/// Adds a case. If its body throws, the case fails.
void add_case(Session& session, Case item);

/// Registers the cases whose names are among `names` with Google Benchmark, in the order in which they will run.
/// Returns the number of runs.
std::size_t register_cases(Session& session, const std::vector<std::string>& names);

/// Adds compress/..., decompress/... and pair/... for every method and input.
void add_compressor_cases(Session& session);

/// Adds kernel/<name>/... for every input: the kernels that methods are made of.
void add_kernel_cases(Session& session);

/// Adds read/..., write/..., update/..., copy/... and triad/... for every input, and sgemm: the limits of this machine.
void add_machine_cases(Session& session);

/// Adds train_step/<model>/batch<samples>: forward and backward, with the share of the sgemm peak that they reach.
void add_model_cases(Session& session);

}  // namespace gradcomp::bench
