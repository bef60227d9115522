#pragma once
// Cases of the building blocks of methods: kernel/<name>/<input>. Each answer is verified by a plain loop on the host.
#include <functional>
#include <string>
#include <vector>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/source.hpp"

namespace gradcomp::bench {

/// Input of a kernel; the gradient outlives the kernel.
struct KernelInput {
  Exec exec;
  Span<const float> gradient;
  Layout layout;
  std::uint64_t seed;

  index_t count() const { return static_cast<index_t>(gradient.size()); }
  /// A source without feedback: kernels that form a = g read the gradient once.
  Source source() const;
  /// The values on the host.
  std::vector<float> host() const;
};

/// A building block with its arrays, ready to run.
struct Kernel {
  double passes = 0;             ///< reads and writes of the gradient's bytes in one call of `work`
  std::function<void()> work;    ///< timed
  std::function<void()> check;   ///< throws Error if the answer of the last call is wrong
  std::function<void()> before;  ///< runs untimed before every call; may be empty
};

struct NamedKernel {
  std::string name;
  double bytes_per_element;  ///< upper bound for all arrays, including those of the check
  std::function<Kernel(const KernelInput&)> make;
  index_t least = 1;  ///< elements that the kernel needs; smaller inputs are left out
};

/// First pass, counts above thresholds.
std::vector<NamedKernel> statistics_kernels();
/// Exact selection, scatter.
std::vector<NamedKernel> selection_kernels();
/// Signs.
std::vector<NamedKernel> sign_kernels();
/// Codes of 2, 4 and 8 bits.
std::vector<NamedKernel> code_kernels();
/// Count sketch.
std::vector<NamedKernel> sketch_kernels();
/// Hadamard rotation.
std::vector<NamedKernel> rotation_kernels();
/// The three products of PowerSGD.
std::vector<NamedKernel> low_rank_kernels();
/// Huffman codes of bytes.
std::vector<NamedKernel> entropy_kernels();

std::vector<NamedKernel> all_kernels();

/// Runs a kernel once and checks its answer.
void run_checked(const NamedKernel& kernel, const KernelInput& input);

/// Throws Error unless |got - expected| <= tolerance, so also for NaN.
void require_close(const char* what, index_t element, double got, double expected, double tolerance);

}  // namespace gradcomp::bench
