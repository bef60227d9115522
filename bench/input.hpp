#pragma once
// The inputs of cases: synthetic gradients of given sizes, and gradients from files.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradient.hpp"
#include "options.hpp"

namespace gradcomp::bench {

struct Input {
  std::string data;  ///< "laplace", or the name of a file without folder and extension
  index_t elements = 0;
  Layout layout;                           ///< that of layer_like() for synthetic gradients and vectors
  GradientStream::Recorded recorded = {};  ///< the contents of files, on the host; null for a synthetic gradient

  /// The part of the names of cases that differs between inputs: "65536" or "269722/step_100" (for a stream of files,
  /// the first of them).
  std::string name() const;
};

/// The synthetic inputs, in the order of options.sizes, and then the files; files with '+' between them are one stream.
/// Throws Error for a file that cannot be read, is empty or holds values that are not finite, for files of a stream
/// with different shapes, and for two inputs with the same name.
std::vector<Input> make_inputs(const BenchOptions& options);

/// At most `length` gradients of the input, on the device. `seed` is for synthetic gradients.
GradientStream make_stream(const Exec& exec, const Input& input, std::uint64_t seed, index_t length);

}  // namespace gradcomp::bench
