#pragma once
// One method on a stream of gradients, on one rank and without communication: what it keeps, sends and loses, how long
// it takes, and whether its answer is right.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradcomp/evaluate/one_rank_run.hpp"
#include "gradcomp/evaluate/trials.hpp"
#include "gradcomp/measure/read_limit.hpp"

namespace gradcomp::evaluate {

struct MethodEvaluationOptions {
  bool closed = false;  ///< feedback and state live from step to step; else every gradient is the first one
  std::uint64_t seed = 1;
  index_t timings = 10;     ///< timed repetitions of an open-loop gradient, after two untimed ones; a closed loop times
                            ///< each step but the first
  index_t trials = 0;       ///< trials of every open-loop gradient, with fresh random numbers
  bool keep_bytes = false;  ///< keep the message of the last step, for dumps
};

/// What was measured, one entry per step unless it says otherwise.
struct Measurements {
  std::vector<std::vector<double>> density_ratio;  ///< achieved / target, per step one value per segment with a target
  std::vector<double> kept;                        ///< entries sent; empty for methods that are not sparse
  std::vector<double> target;                      ///< entries asked for; empty for methods without a target
  std::vector<double> payload_bytes, header_bytes;
  std::vector<double> entropy_bits;  ///< log2 C(n, kept): what any code of the indices needs on average
  std::vector<double> l2_error;      ///< ||a - decoded|| / ||a||, a: what the compressor saw
  std::vector<double> cosine;        ///< of a and decoded; NaN where one is zero
  std::vector<double> compress_ms, decompress_ms, read_ms;  ///< one per timing
  Trials trials;                                            ///< empty without MethodEvaluationOptions::trials
  std::optional<bool> verified;  ///< decoded + memory = a in every step; empty if the method allows no such check
};

/// True when decoded + rest is what the compressor saw, element by element: within a few units of the last place of the
/// three, and `slack` more.
bool adds_up(std::span<const float> seen, std::span<const float> decoded, std::span<const float> rest, double slack);

class MethodEvaluation {
 public:
  /// Throws Error for a wrong spec. A closed loop uses the feedback of the spec; an open loop uses none.
  MethodEvaluation(const std::string& spec, const Layout& layout, const MethodEvaluationOptions& options);

  /// Evaluates one gradient. `read` measures the read limit in turn with the method. Throws DivergedError if the
  /// method flags the step.
  void step(const Exec& exec, const Span<const float>& gradient, ReadProbe& read);

  const MethodSpec& spec() const { return m_spec; }
  const Measurements& measurements() const { return m_result; }
  /// The messages of the last step, headers included (with keep_bytes), and what was decoded from them.
  const std::vector<std::byte>& message() const { return m_message; }
  std::vector<float> decoded() const;

 private:
  void describe();
  void compare();
  void verify(const std::vector<float>& whole, const std::vector<float>& decoded, const std::vector<float>& rest);
  void check(const Exec& exec, const Span<const float>& gradient);
  void time(const Exec& exec, const Span<const float>& gradient, ReadProbe& read);
  void try_often(const Exec& exec, const Span<const float>& gradient);

  MethodEvaluationOptions m_options;
  MethodSpec m_spec;
  std::optional<MethodSpec> m_checked;  ///< the same with feedback=residual, whose memory says what was not sent
  Layout m_layout;                      ///< as the method sees it
  std::unique_ptr<OneRankRun> m_run, m_check;
  std::vector<float> m_seen;    ///< what the compressor saw in this step
  std::vector<float> m_before;  ///< of ef21: its memory before the step
  std::vector<std::byte> m_message;
  Measurements m_result;
  index_t m_step = 0;
};

}  // namespace gradcomp::evaluate
