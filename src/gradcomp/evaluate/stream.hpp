#pragma once
// Where the gradients of an evaluation come from: files, distributions or a training.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::evaluate {

/// A sequence of gradients of one layout. Every method of an evaluation sees the same one.
class Stream {
 public:
  Stream(std::string name, Layout layout) : m_name(std::move(name)), m_layout(std::move(layout)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// The name in records and file names, e.g. "laplace".
  const std::string& name() const { return m_name; }
  const Layout& layout() const { return m_layout; }

  /// The next gradient, layout().count() finite values; valid until the next call. Throws Error when there is none.
  virtual Span<const float> next(const Exec& exec) = 0;

 private:
  std::string m_name;
  Layout m_layout;
};

/// Gradients from disk (gradient_file.hpp), in turn; after the last the first comes again. All must have the same
/// number of elements. The tensors are those of `layout`, or those of the first file or folder. Throws Error.
std::unique_ptr<Stream> make_file_stream(const std::vector<std::string>& paths, const Layout& layout = {});

/// A fresh draw in every step (data/generated/synthetic.hpp), all from the same distribution: one vector of `size`
/// elements, or the tensors of `layout` (read_layout()) if it is not empty.
std::unique_ptr<Stream> make_synthetic_stream(const std::string& distribution, index_t size, const std::string& layout,
                                              std::uint64_t seed);

/// A training in single precision, without compression, on one rank.
struct TrainingOptions {
  std::string model;
  std::string dataset = "shapetex10";  ///< spec of data/open_task.hpp
  index_t steps = 400;                 ///< length of the learning-rate schedule (cosine)
  index_t batch = 64;
  double learning_rate = 0.05, momentum = 0.9, weight_decay = 5e-4;
  std::uint64_t seed = 1;
};

/// The gradients of the steps of a training; the layout is that of the model.
std::unique_ptr<Stream> make_training_stream(const TrainingOptions& options);

}  // namespace gradcomp::evaluate
