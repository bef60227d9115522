#pragma once
// A network as the trainer sees it: it takes parameters and returns a gradient, both as flat arrays. The model owns
// only its activations. Parameters, buffers and gradient belong to the caller, so that the trainers of several methods
// can take turns with one model.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/input_shape.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// Views of samples and their targets. A sample is an image, a sequence of frames or a sequence of a text.
template <class T>
struct Batch {
  Span<const T> features;                ///< [images][height][width][channels] or [sequences][length][features]; empty
                                         ///< for language models
  Span<const std::int32_t> labels;       ///< each in [0, classes): one per image, sequence of frames, or token
  Span<const std::int32_t> tokens = {};  ///< language models: [sequences][length], each in [0, classes)
  bool restart = false;                  ///< sequences begin anew: the hidden state of the previous batch is not used
  std::uint64_t key = 0;                 ///< key of the random draws for this batch (dropout), from seed, step and rank
  Span<const float> weights = {};        ///< weight of each sample's loss and gradient; empty: all are 1

  index_t size() const { return static_cast<index_t>(labels.extent(0)); }
};

/// The loss of one batch, or of several together (operator +=).
struct Loss {
  double sum = 0;       ///< sum over the labels of cross entropy x weight of the sample, in nats
  index_t correct = 0;  ///< number of labels whose logit is the largest, without weights
  index_t count = 0;    ///< number of labels, without weights

  /// The sum over samples of weight x mean loss of the sample, divided by the number of samples. backward()
  /// differentiates this mean. If a sampler's weights are 1 / (number of samples that can be drawn x probability), it
  /// is an unbiased estimate of the mean loss of these samples.
  double mean() const { return sum / static_cast<double>(count); }
  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(count); }
  Loss& operator+=(const Loss& other);
};

/// backward() calls it with the index of a segment as soon as the gradients of this and all later segments are complete
/// (on a device: as soon as their kernels are launched).
using Ready = std::function<void(std::size_t first_ready_segment)>;

/// forward() calls it with the first segment of each layer, in the order of the forward pass, before it uses the
/// parameters from that segment up to that of the next call. Tied weights are named at their first use.
using Needed = std::function<void(std::size_t segment)>;

/// A model of float, or of double for tests.
template <class T>
class Model {
 public:
  virtual ~Model() = default;

  virtual const std::string& name() const = 0;

  /// Parameters in the order of the forward pass. Filters have the shape {height, width, in, out}, and weights of
  /// linear layers {in, out}.
  virtual const Layout& layout() const = 0;

  /// Elements of the buffers, which are not parameters: running mean and variance of each batch norm, in the order of
  /// the forward pass, or the hidden state that a batch of texts leaves for the next one.
  virtual index_t buffer_count() const = 0;

  /// Whether the buffers are statistics of the data, which replicas may average. Otherwise they belong to the batches
  /// of one rank.
  virtual bool has_statistics() const { return false; }

  virtual int max_batch() const = 0;
  virtual int classes() const = 0;

  /// Elements of the features of one sample; 0 for language models.
  virtual index_t image_size() const = 0;

  /// Floating-point operations of the convolutions and linear layers in a training step, per image or token. A
  /// multiply-add counts as 2.
  virtual double step_flops() const = 0;

  /// Sets the initial parameters (He et al. 2015 for image models) and buffers. They are a pure function of `seed`, and
  /// float and double differ by rounding only.
  virtual void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const = 0;

  /// Forward pass of training: normalises with the statistics of the batch and updates the running ones in `buffers`,
  /// or updates the hidden state there. Throws Error unless the batch has 1 to max_batch() samples.
  virtual void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                       const Batch<T>& batch) = 0;
  void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
               const Needed& needed) {
    m_needed = &needed;
    forward(exec, parameters, buffers, batch);
    m_needed = nullptr;
  }

  /// Computes the gradient of Loss::mean() of the last forward(), which must have had the same parameters. With weights
  /// w_j this is the gradient of 1 / samples x sum of w_j L_j, where L_j is the mean loss of the labels of sample j.
  /// With batch norm, L_j depends on the other samples of the batch too, even on those of weight 0. `ready` may be
  /// empty.
  virtual void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                        const Ready& ready) = 0;

  /// Forward pass of evaluation: no dropout, and normalisation with the running statistics, which do not change. The
  /// hidden state in `buffers` is updated; if batch.restart, it starts from zero. Overwrites what backward(), loss()
  /// and sample_losses() need of the last forward(), and changes nothing else. So if it gets a copy of the buffers
  /// between two steps, training continues as if there had been no such call.
  virtual void infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                     const Batch<T>& batch) = 0;

  /// Loss of the last forward() or infer(). Fences `exec`. Throws Error if a label was not in [0, classes()).
  virtual Loss loss(const Exec& exec) = 0;

  /// losses[j] = mean loss of the labels of sample j in the last forward() or infer(), in nats and without its weight.
  /// It is not finite if the logits are not. A label outside [0, classes()) counts as a loss of 0, and loss() reports
  /// it. Does not wait for `exec`. Throws Error unless `losses` has exactly as many elements as that batch has samples.
  virtual void sample_losses(const Exec& exec, const Span<float>& losses) const = 0;

  /// Calls forward(), backward() and loss().
  Loss train_step(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                  const Span<T>& gradient, const Ready& ready = {}) {
    forward(exec, parameters, buffers, batch);
    backward(exec, parameters, gradient, ready);
    return loss(exec);
  }

  /// Calls infer() and loss().
  Loss evaluate(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch) {
    infer(exec, parameters, buffers, batch);
    return loss(exec);
  }

 protected:
  /// forward() calls it to say that the layer that begins with `segment` comes next.
  void need(std::size_t segment) const {
    if (m_needed != nullptr && *m_needed) (*m_needed)(segment);
  }

 private:
  const Needed* m_needed = nullptr;
};

}  // namespace gradcomp::nn
