#include <cmath>
#include <utility>

#include "gradcomp/core/allowed.hpp"
#include "gradcomp/data/open_task.hpp"
#include "gradcomp/evaluate/stream.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/nn/device_batch.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/optimisers/learning_rate.hpp"
#include "gradcomp/nn/optimisers/sgd.hpp"

namespace gradcomp::evaluate {
namespace {

nn::OptimiserOptions sgd_options(const TrainingOptions& options) {
  nn::OptimiserOptions sgd;
  sgd.momentum = options.momentum;
  sgd.weight_decay = options.weight_decay;
  return sgd;
}

class Training final : public Stream {
 public:
  Training(const TrainingOptions& options, std::unique_ptr<data::Task> task, std::unique_ptr<nn::Model<float>> model)
      : Stream(options.model, model->layout()),
        m_task(std::move(task)),
        m_model(std::move(model)),
        m_parameters(kernels::zeroed<float>("gradcomp::evaluate::parameters", layout().count())),
        m_gradient(kernels::zeroed<float>("gradcomp::evaluate::gradient", layout().count())),
        m_buffers(kernels::zeroed<float>("gradcomp::evaluate::buffers", m_model->buffer_count())),
        m_sgd(layout(), sgd_options(options)),
        m_loader(m_task->training({options.batch, 0, 1, options.seed})) {
    m_rate.decay = nn::decay_from_name("cosine");
    m_rate.rate = options.learning_rate;
    m_rate.steps = options.steps;
    const auto parameters = Kokkos::create_mirror_view(m_parameters);
    const auto buffers = Kokkos::create_mirror_view(m_buffers);
    m_model->initialise(options.seed, parameters, buffers);
    Kokkos::deep_copy(m_parameters, parameters);
    Kokkos::deep_copy(m_buffers, buffers);
  }

  Span<const float> next(const Exec& exec) override {
    const Span<const float> gradient = m_gradient;
    if (m_step > 0) m_sgd.step(exec, m_rate.at(m_step - 1), m_parameters, gradient);
    const auto batch = m_batch.upload(exec, m_loader.next());
    const nn::Loss loss = m_model->train_step(exec, m_parameters, m_buffers, batch, m_gradient);
    require(std::isfinite(loss.sum), "the training diverged: the loss of step {} is not finite; lower --lr", m_step);
    ++m_step;
    return gradient;
  }

 private:
  std::unique_ptr<data::Task> m_task;
  std::unique_ptr<nn::Model<float>> m_model;
  Vector<float> m_parameters, m_gradient, m_buffers;
  nn::Sgd<float> m_sgd;
  nn::LearningRate m_rate;
  nn::DeviceBatch m_batch;
  data::Loader m_loader;
  index_t m_step = 0;
};

}  // namespace

std::unique_ptr<Stream> make_training_stream(const TrainingOptions& options) {
  require(options.steps >= 1, "--steps {} is not allowed; allowed: at least 1", options.steps);
  require(options.batch >= 1, "--batch {} is not allowed; allowed: at least 1 sample", options.batch);
  require_between("--lr", options.learning_rate, 1e-12, 1e6);
  auto task = data::open_task(options.dataset);
  auto model = nn::make_model<float>(options.model, task->shape(), static_cast<int>(options.batch));
  return std::make_unique<Training>(options, std::move(task), std::move(model));
}

}  // namespace gradcomp::evaluate
