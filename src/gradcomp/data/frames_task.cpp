#include "gradcomp/data/frames_task.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/frames.hpp"
#include "gradcomp/data/shards.hpp"
#include "gradcomp/data/spec.hpp"

namespace gradcomp::data {
namespace {

index_t longest(const FrameSet& set) {
  index_t most = 0;
  for (index_t i = 0; i < set.count(); ++i) most = std::max(most, set.frames(i));
  return most;
}

class FramesTask final : public Task {
 public:
  FramesTask(FrameData data, index_t length)
      : m_data(std::move(data)), m_length(length > 0 ? length : longest(m_data.train)) {
    m_data.name += fmt::format(":length={}", m_length);
  }

  const std::string& name() const override { return m_data.name; }
  const std::string& crc() const override { return m_data.crc; }
  InputShape shape() const override {
    InputShape shape;
    shape.kind = InputShape::Kind::frames;
    shape.length = m_length;
    shape.features = m_data.train.features;
    shape.classes = m_data.train.classes;
    return shape;
  }

  index_t steps_per_epoch(const Shard& shard) const override { return sampler(shard).steps_per_epoch(); }

  Loader::Fill training(const Shard& shard) const override {
    return [this, sampler = sampler(shard)](Batch& batch) mutable {
      sampler.batch(batch.step, batch.indices);
      batch.epoch = sampler.epoch(batch.step);
      fill(m_data.train, batch);
    };
  }

  std::vector<index_t> samples(const Shard& shard) const override {
    return own_samples(m_data.train.labels, m_data.train.classes, shard);
  }
  void fill(const Shard&, Batch& batch) const override { fill(m_data.train, batch); }
  index_t sample_bytes() const override {
    return m_length * m_data.train.features * size_of(DType::f32) + static_cast<index_t>(sizeof(std::int32_t));
  }

  Trivial trivial() const override {
    return trivial_predictor(count_labels(m_data.train.labels), count_labels(m_data.test.labels), m_data.train.classes);
  }

  bool held_out(Split split, const Shard& shard, index_t number, Batch& batch) const override {
    const FrameSet& set = split == Split::test ? m_data.test : m_data.validation;
    batch.step = number;
    batch.epoch = 0;
    batch.indices.clear();
    for (index_t i = number * shard.batch * shard.ranks + shard.rank;
         i < set.count() && std::ssize(batch.indices) < shard.batch; i += shard.ranks) {
      batch.indices.push_back(i);
    }
    if (batch.indices.empty()) return false;
    fill(set, batch);
    return true;
  }

 private:
  ShardSampler sampler(const Shard& shard) const {
    return ShardSampler(m_data.train.labels, m_data.train.classes, shard);
  }

  /// Fills batch.features and batch.labels with the sequences batch.indices.
  void fill(const FrameSet& set, Batch& batch) const {
    const auto features = static_cast<std::size_t>(set.features);
    const std::size_t size = static_cast<std::size_t>(m_length) * features;
    batch.features.assign(batch.indices.size() * size, 0.0F);
    batch.labels.resize(batch.indices.size());
    batch.restart = true;
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      const index_t sample = batch.indices[i];
      batch.labels[i] = set.labels[static_cast<std::size_t>(sample)];
      const auto count = static_cast<std::size_t>(std::min(m_length, set.frames(sample))) * features;
      const float* const in = set.sequence(sample);
      float* const out = batch.features.data() + i * size;
      for (std::size_t v = 0; v < count; ++v) out[v] = (in[v] - m_data.mean[v % features]) / m_data.std[v % features];
    }
  }

  FrameData m_data;
  index_t m_length;
};

}  // namespace

std::unique_ptr<Task> make_frames_task(const std::string& text, index_t length) {
  std::string spec = text;
  length = take_length(spec, length);
  return std::make_unique<FramesTask>(open_frames(spec), length);
}

}  // namespace gradcomp::data
