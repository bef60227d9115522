#pragma once
// What cases read: synthetic gradients of the sizes asked for, and gradients from files.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "options.hpp"

namespace gradcomp::bench {

struct Input {
  std::string data;  ///< "laplace", or the name of a file without its folder and ending
  index_t elements = 0;
  Layout layout;                                     ///< a synthetic gradient and a vector are cut as layer_like() does
  std::shared_ptr<const std::vector<float>> values;  ///< of a file, on the host; none of a synthetic gradient

  /// What tells its cases apart: "65536", "269722/step_100".
  std::string name() const;
};

/// Synthetic inputs first, in the order of options.sizes; then the files. Throws Error for a file that cannot be read,
/// is empty or holds values that are not finite, and for two inputs of the same name.
std::vector<Input> make_inputs(const BenchOptions& options);

/// The values on the device, alone there: `seed` is of a synthetic gradient.
Vector<float> upload_input(const Exec& exec, const Input& input, std::uint64_t seed);

}  // namespace gradcomp::bench
