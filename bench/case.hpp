#pragma once
// What all cases share: the session they run in, how they sample, and the row that they leave behind.
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

/// Samples of a case in ms: the work, and in turn with it one read of the same gradient.
struct CaseTimes {
  std::vector<double> work, read;
};

/// A case before it runs.
struct Case {
  std::string name;
  index_t elements;  ///< its samples follow from them
  std::function<void(benchmark::State&, report::Row)> body;
  std::string group = {};  ///< cases of the same group are interleaved; empty: runs alone
};

/// Everything that outlives the single case.
struct Session {
  Exec exec;
  BenchOptions options;
  std::vector<Input> inputs;
  double memory_bytes = 0;            ///< that a case may take
  std::vector<Case> cases;            ///< all that were added, in order
  std::vector<std::string> left_out;  ///< a line for each case or group of cases that was not
  std::deque<report::Row> rows;       ///< of the cases that ran and passed
  bool failed = false;                ///< some answer was wrong

  /// The first of the input's gradients, made at first use; only the last input's are kept.
  Span<const float> gradient(const Input& input);
  /// Puts the next of the same input's gradients in its place.
  void next_gradient();
  /// How many there are.
  index_t stream_length() const { return m_stream.length(); }

  /// Seconds of one read of `data`, as fast as this build can.
  double read_seconds(const Span<const float>& data);

  /// Timed calls of a case with `count` elements.
  index_t samples(index_t count) const;

  /// With cache=cold: writes an array larger than the last-level cache.
  void evict();

  /// Whether `what` with so many bytes per element may run on the input; remembers it for `left_out` if not.
  bool fits(const Input& input, const std::string& what, double bytes_per_element);
  /// Turns what did not fit into one line for each input.
  void explain_misfits();

  std::map<std::string, CaseTimes> collected;  ///< of the cases that have run in some of their rounds
  bool last_round = true;                      ///< of the running case: its row is due

 private:
  std::string m_held;  ///< name of the input whose gradients m_stream holds
  GradientStream m_stream;
  std::unique_ptr<ReadProbe> m_probe;  ///< for arrays up to the size of a gradient
  Vector<float> m_evictor;
  std::map<std::string, std::vector<std::string>> m_misfits;  ///< by input
};

/// Runs the benchmark loop: `before` (untimed), `work` (timed; returns the seconds of it that do not count), then the
/// read limit. The first call is not timed.
CaseTimes sample(benchmark::State& state, Session& session, const Span<const float>& gradient,
                 const std::function<void()>& before, const std::function<double()>& work);

/// Fills the shared columns and appends the row, with the samples of all rounds, after the last of them. `passes`:
/// reads and writes of the gradient's bytes, 0 when not declared.
void finish_case(Session& session, report::Row row, const std::string& operation, const Input& input, double passes,
                 const CaseTimes& times);

/// Adds a case that runs `body` and turns what it throws into a failed case.
void add_case(Session& session, Case item);

/// Registers the cases whose names are among `names` with Google Benchmark, in the order in which they will run;
/// returns how many runs there will be.
std::size_t register_cases(Session& session, const std::vector<std::string>& names);

/// compress/..., decompress/... and pair/... of every method and input.
void add_compressor_cases(Session& session);

/// kernel/<name>/...: what methods are made of, for every input.
void add_kernel_cases(Session& session);

/// read/..., copy/..., triad/... of every input and sgemm: what this machine allows.
void add_machine_cases(Session& session);

/// train_step/<model>/batch<samples>: forward and backward, with its share of the sgemm peak.
void add_model_cases(Session& session);

}  // namespace gradcomp::bench
