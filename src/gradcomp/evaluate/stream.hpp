#pragma once
// Where the gradients of an evaluation come from: files, distributions, a training under way.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"

namespace gradcomp::evaluate {

/// A sequence of gradients of one layout, the same for every method of a run.
class Stream {
 public:
  Stream(std::string name, Layout layout) : m_name(std::move(name)), m_layout(std::move(layout)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// In records and file names, e.g. "laplace".
  const std::string& name() const { return m_name; }
  const Layout& layout() const { return m_layout; }

  /// The next gradient, layout().count() finite values; valid until the next call. Throws Error when there is none.
  virtual Span<const float> next(const Exec& exec) = 0;

 private:
  std::string m_name;
  Layout m_layout;
};

/// Gradients from disk (gradient_file.hpp), in turn and again from the first; as many elements in each. The tensors are
/// those of `layout`, or of the first file or folder. Throws Error.
std::unique_ptr<Stream> make_file_stream(const std::vector<std::string>& paths, const Layout& layout = {});

/// A fresh draw in every step (data/generated/synthetic.hpp): one vector of `size` elements, or with a `layout`
/// (read_layout()) its tensors, all from the same distribution.
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

/// The gradients of its steps; the tensors of the model are the layout.
std::unique_ptr<Stream> make_training_stream(const TrainingOptions& options);

}  // namespace gradcomp::evaluate
