#pragma once
// The training of one replica in plain loops, which a trainer must reproduce bit for bit. It uses the project's models,
// data and reductions, but not its strategies, optimisers, schedules and clipping.
#include <cmath>
#include <numbers>

#include "gradcomp/train/evaluation.hpp"
#include "training/rig.hpp"

namespace gradcomp::train::test {

using gradcomp::test::to_device;
using gradcomp::test::to_host;

class ByHand {
 public:
  explicit ByHand(Rig& rig)
      : m_rig(rig),
        m_fill(rig.task->training(rig.job().shard())),
        m_buffers("buffers", static_cast<std::size_t>(rig.model->buffer_count())) {
    const auto count = static_cast<std::size_t>(rig.model->layout().count());
    parameters.resize(count);
    std::vector<float> buffers(m_buffers.size());
    rig.model->initialise(rig.options.seed, HostSpan<float>(parameters.data(), count),
                          HostSpan<float>(buffers.data(), buffers.size()));
    Kokkos::deep_copy(m_buffers, HostSpan<const float>(buffers.data(), buffers.size()));
    for (const Segment& s : rig.model->layout().segments) {
      m_decayed.insert(m_decayed.end(), static_cast<std::size_t>(s.count), s.is_matrix() ? 1.0F : 0.0F);
    }
  }

  std::vector<float> parameters;

  /// This rank's gradient of the batch of `step`.
  std::vector<float> gradient(index_t step) {
    data::Batch batch;
    batch.step = step;
    m_fill(batch);
    const Vector<float> p = to_device(parameters), g("gradient", parameters.size());
    m_rig.model->train_step(Exec(), p, m_buffers, m_device.upload(Exec(), batch), g);
    return to_host(g);
  }

  /// The mean over at most two ranks: one addition, and a division without rounding.
  std::vector<float> mean(const std::vector<float>& own) const {
    Transport& comm = *m_rig.control;
    const auto send = to_device(own);
    const Vector<float> all("all", own.size() * static_cast<std::size_t>(comm.size()));
    gradcomp::run(comm, Exec(), AllGather{send.data(), all.data(), static_cast<index_t>(own.size()), DType::f32});
    auto values = to_host(all);
    for (std::size_t i = own.size(); i < values.size(); ++i) values[i - own.size()] += values[i];
    values.resize(own.size());
    for (float& x : values) x /= static_cast<float>(comm.size());
    return values;
  }

  /// Replaces the running statistics of the batch norms by their mean over the ranks.
  void average_buffers() { Kokkos::deep_copy(m_buffers, to_device(mean(to_host(m_buffers)))); }

  /// A linear warm-up, then half a cosine.
  double rate(index_t step) const {
    const Options& o = m_rig.options;
    if (step < o.warmup) return o.learning_rate * static_cast<double>(step + 1) / static_cast<double>(o.warmup);
    if (o.decay == "constant") return o.learning_rate;
    const double part = static_cast<double>(step - o.warmup) / static_cast<double>(o.steps - o.warmup);
    return o.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * part));
  }

  /// v = momentum v + (g + decay p); p -= rate v, or, if `again`, p -= rate (g + decay p + v). Vectors do not decay.
  void sgd(const std::vector<float>& mean, std::vector<float>& velocity, double rate, float momentum,
           bool again = false) {
    const float decay = static_cast<float>(m_rig.options.weight_decay), step = static_cast<float>(rate);
    velocity.resize(mean.size(), 0.0F);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const float g = mean[i] + decay * m_decayed[i] * parameters[i];
      const float v = momentum * velocity[i] + g;
      velocity[i] = v;
      parameters[i] -= step * (again ? g + v : v);
    }
  }

  bool decays(std::size_t i) const { return m_decayed[i] > 0; }
  std::uint64_t hash() const { return content_hash(to_device(parameters)); }

 private:
  Rig& m_rig;
  data::Loader::Fill m_fill;
  nn::DeviceBatch m_device;
  Vector<float> m_buffers;
  std::vector<float> m_decayed;
};

}  // namespace gradcomp::train::test
