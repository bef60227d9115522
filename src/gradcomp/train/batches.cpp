#include "gradcomp/train/batches.hpp"

#include <algorithm>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/train/replay.hpp"

namespace gradcomp::train {
namespace {

std::unique_ptr<BatchSampler> make_sampler(const Job& job, const Contender& contender) {
  const SamplerChoice choice = choose_sampler(contender.spec, job.options.sampler);
  require_same_on_all_ranks(job.control, "sampler", choice.text());
  if (job.dedicated_ranks > 0) {
    if (choice.entry.name == "uniform") return nullptr;
    throw AgreedError(fmt::format("method '{}': with sampler {} every rank must train; allowed: strategy.dedicated=off",
                                  contender.spec.label, choice.entry.name));
  }
  std::vector<index_t> samples;
  run_collectively(job.control, [&] { samples = job.task.samples(job.shard()); });
  return choice.entry.make({std::move(samples), job.options.batch, job.options.seed, job.transport, choice.own});
}

}  // namespace

Batches::Batches(const Job& job, const Contender& contender)
    : m_task(job.task),
      m_shard(job.shard()),
      m_epoch_steps(job.task.steps_per_epoch(m_shard)),
      m_sampler(make_sampler(job, contender)) {
  if (m_sampler) {
    m_pass = std::make_unique<ImportancePass>(job, m_sampler->slice_size());
    if (!job.options.replay_slices.empty()) {
      run_collectively(job.control, [&] {
        m_sampler->replay(recorded_slices(job.options.replay_slices, contender.spec.label, job.options.seed,
                                          job.control.rank(), job.control.size()));
      });
    }
  } else if (job.trains()) {
    m_loader = std::make_unique<data::Loader>(m_task.training(m_shard));
  }
}

EvaluateLosses Batches::evaluator(const Exec& exec) {
  return [this, exec](std::span<const index_t> samples, std::span<float> losses) {
    m_pass->evaluate(exec, samples, losses);
  };
}

const data::Batch& Batches::draw(index_t step) {
  m_sampler->draw(step, m_drawn);
  m_batch.step = step;
  m_batch.epoch = step / m_epoch_steps;
  m_batch.indices = m_drawn.samples;
  m_batch.weights = m_drawn.weights;
  m_task.fill(m_shard, m_batch);
  return m_batch;
}

nn::Batch<float> Batches::next(const Exec& exec, index_t step, const Span<const float>& parameters,
                               const Span<const float>& buffers, Timeline* timeline) {
  if (m_sampler) {
    const StageScope stage(exec, timeline, Stage::importance);
    m_pass->keep(exec, parameters, buffers);
    if (!m_sampler->ready()) {
      m_sampler->begin(step);
      m_sampler->finish(evaluator(exec));
    }
    m_sampler->begin(step);
  }
  const StageScope stage(exec, timeline, Stage::data);
  return m_device.upload(exec, m_sampler ? draw(step) : m_loader->next());
}

bool Batches::evaluate_slice(const Exec& exec, Timeline* timeline) {
  if (!m_sampler) return false;
  const StageScope stage(exec, timeline, Stage::importance);
  return m_sampler->evaluate_slice(evaluator(exec));
}

void Batches::finish(const Exec& exec, Timeline* timeline) {
  if (!m_sampler) return;
  const StageScope stage(exec, timeline, Stage::importance);
  m_slices.push_back(m_sampler->finish(evaluator(exec)));
}

bool Batches::reshards_before(index_t step) const {
  const index_t period = m_sampler ? m_sampler->reshard_period() : 0;
  return period > 0 && step > 0 && step % period == 0;
}

index_t Batches::reshard(const Exec& exec) {
  const Resharded moved = m_sampler->reshard(exec);
  m_moved += moved.swaps;
  return moved.wire_bytes;
}

/// Samples change ranks, so those of this rank may have been any rank's.
void Batches::require_samples_of_the_set() const {
  std::vector<index_t> set, own = m_sampler->samples();
  data::Shard shard = m_shard;
  for (shard.rank = 0; shard.rank < shard.ranks; ++shard.rank) {
    const auto part = m_task.samples(shard);
    set.insert(set.end(), part.begin(), part.end());
  }
  std::sort(set.begin(), set.end());
  std::sort(own.begin(), own.end());
  require(std::includes(set.begin(), set.end(), own.begin(), own.end()),
          "the checkpoint's samples are not those of the data set");
}

Memories Batches::memories() {
  if (!m_sampler) return {};
  Memories all = m_sampler->memories();
  all.push_back({"moved", &m_moved, sizeof m_moved, true, Role::sampler, -1, [this] { return is_count(m_moved); }});
  return all;
}

void Batches::restart(index_t step) {
  require(std::ssize(m_slices) == (m_sampler ? step : 0), "the checkpoint has slices of {} steps, but {} were made",
          m_slices.size(), step);
  if (m_sampler) require_samples_of_the_set();
  if (m_loader) m_loader = std::make_unique<data::Loader>(m_task.training(m_shard), step);
}

}  // namespace gradcomp::train
