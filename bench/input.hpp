#pragma once
// What cases read: synthetic gradients of the sizes asked for, and gradients from files.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradient.hpp"
#include "options.hpp"

namespace gradcomp::bench {

struct Input {
  std::string data;  ///< "laplace", or the name of a file without its folder and ending
  index_t elements = 0;
  Layout layout;                           ///< a synthetic gradient and a vector are cut as layer_like() does
  GradientStream::Recorded recorded = {};  ///< of files, on the host; none of a synthetic gradient

  /// What tells its cases apart: "65536", "269722/step_100"; of a stream of files, its first.
  std::string name() const;
};

/// Synthetic inputs first, in the order of options.sizes; then the files, each one input, or several with + between
/// them one stream. Throws Error for a file that cannot be read, is empty or holds values that are not finite, for
/// files of a stream that differ in shape, and for two inputs of the same name.
std::vector<Input> make_inputs(const BenchOptions& options);

/// Its gradients on the device, `length` at most; `seed` is of synthetic ones.
GradientStream make_stream(const Exec& exec, const Input& input, std::uint64_t seed, index_t length);

}  // namespace gradcomp::bench
