#pragma once
// A network as the trainer sees it: flat parameters in, flat gradient out.
// The model owns its activations only. Parameters, buffers and gradient belong to the caller, so that the trainers of
// several methods can take turns on one model object.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/core/input_shape.hpp"
#include "gradcomp/core/layout.hpp"
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// Samples with their targets, all borrowed. A sample is an image, a sequence of frames or a sequence of a text.
template <class T>
struct Batch {
  Span<const T> features;                ///< [size][height][width][channels] contiguous; empty for language models
  Span<const std::int32_t> labels;       ///< each in [0, classes): one per image, or one per token
  Span<const std::int32_t> tokens = {};  ///< language models: [sequences][length], each in [0, classes)
  bool restart = false;                  ///< texts begin anew: the hidden state that they left behind is forgotten
  std::uint64_t key = 0;                 ///< of this batch's random draws (dropout): of seed, step and rank
  Span<const float> weights = {};        ///< one per sample, of its loss and gradient; empty: all are 1

  index_t size() const { return static_cast<index_t>(labels.extent(0)); }
};

/// Result over one batch, or the sum over several (operator +=).
struct Loss {
  double sum = 0;       ///< of the cross entropy, nats, each label's by the weight of its sample
  index_t correct = 0;  ///< labels whose logit is the largest, without weights
  index_t count = 0;    ///< labels, without weights

  /// 1 / samples x the sum of weight x mean loss of the sample: what backward() differentiates, and an unbiased
  /// estimate of the same mean for any sampler whose weights are 1 / (samples to draw from x probability).
  double mean() const { return sum / static_cast<double>(count); }
  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(count); }
  Loss& operator+=(const Loss& other);
};

/// Called in backward with the index of a segment once the gradients of it and of all segments behind it are complete
/// (on a device: launched on the instance).
using Ready = std::function<void(std::size_t first_ready_segment)>;

/// Called in forward, in forward order, with the first segment of each layer before its parameters are used: those up
/// to the next call's segment (of tied weights, at their first use).
using Needed = std::function<void(std::size_t segment)>;

template <class T>
class Model {
 public:
  virtual ~Model() = default;

  virtual const std::string& name() const = 0;

  /// Parameters in forward order. Convolutions are shaped {3, 3, in, out}, linear layers {in, out}.
  virtual const Layout& layout() const = 0;

  /// Elements of the buffers, which are no parameters: running mean and variance of each batch norm, forward order; the
  /// hidden state that a batch of texts hands to the next one.
  virtual index_t buffer_count() const = 0;

  /// Whether they are statistics of the data, which replicas may average; else they belong to one rank's batches.
  virtual bool has_statistics() const { return false; }

  virtual int max_batch() const = 0;
  virtual int classes() const = 0;

  /// Elements of one input image.
  virtual index_t image_size() const = 0;

  /// Floating-point operations (a multiply-add is 2) of the convolutions and linear layers of a training step, per
  /// image or token.
  virtual double step_flops() const = 0;

  /// He initialisation (He et al. 2015), a pure function of `seed`, the same for float and double but for rounding.
  virtual void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const = 0;

  /// Training mode: normalises with the batch's statistics and moves the running ones in `buffers`. 1 to max_batch()
  /// images, else throws Error.
  virtual void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                       const Batch<T>& batch) = 0;
  void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
               const Needed& needed) {
    m_needed = &needed;
    forward(exec, parameters, buffers, batch);
    m_needed = nullptr;
  }

  /// Gradient of Loss::mean() of the last forward(), which must have had the same parameters. `ready` may be empty.
  /// With weights w_j that is the gradient of 1 / samples x sum of w_j L_j; L_j is the mean loss of sample j's labels
  /// in this batch (where there is batch norm, it depends on the others in it, those of weight 0 included).
  virtual void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                        const Ready& ready) = 0;

  /// Forward without dropout and with the running statistics, which stay as they are; a hidden state moves on, or
  /// starts from zero for each sequence where batch.restart says so. Overwrites what backward(), loss() and
  /// sample_losses() need of the last forward(). Nothing else outlasts it: given a copy of the buffers, a pass between
  /// two steps leaves the training as it was (its statistics, its hidden state, and its random draws, which are of
  /// Batch::key alone).
  virtual void infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                     const Batch<T>& batch) = 0;

  /// Loss of the last forward() or infer(). Fences `exec`. Throws Error when a label was no class.
  virtual Loss loss(const Exec& exec) = 0;

  /// losses[j] = mean loss of the labels of sample j of the last forward() or infer(), in nats, without its weight; not
  /// finite where its logits are not. A label that is no class counts as a loss of 0: loss() reports it. Launches on
  /// `exec` alone. Throws Error unless there is room for exactly the samples of that batch.
  virtual void sample_losses(const Exec& exec, const Span<float>& losses) const = 0;

  /// forward, backward, loss.
  Loss train_step(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                  const Span<T>& gradient, const Ready& ready = {}) {
    forward(exec, parameters, buffers, batch);
    backward(exec, parameters, gradient, ready);
    return loss(exec);
  }

  /// infer, loss.
  Loss evaluate(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch) {
    infer(exec, parameters, buffers, batch);
    return loss(exec);
  }

 protected:
  /// For forward(): the layer that begins with `segment` comes next.
  void need(std::size_t segment) const {
    if (m_needed != nullptr && *m_needed) (*m_needed)(segment);
  }

 private:
  const Needed* m_needed = nullptr;
};

}  // namespace gradcomp::nn
