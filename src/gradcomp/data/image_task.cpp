#include "gradcomp/data/image_task.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/data/shards.hpp"
#include "gradcomp/data/transform.hpp"

namespace gradcomp::data {
namespace {

/// Fills batch.features and batch.labels with the images batch.indices.
void fill_images(const ImageSet& set, const Transform& transform, Batch& batch) {
  batch.features.resize(batch.indices.size() * static_cast<std::size_t>(set.image_size()));
  batch.labels.resize(batch.indices.size());
  transform.fill(set, batch.indices, batch.epoch, batch.features, batch.labels);
}

}  // namespace

InputShape ImageTask::shape() const {
  const ImageSet& set = m_data.train;
  return {InputShape::Kind::images, set.height, set.width, set.channels, 0, 0, set.classes};
}

index_t ImageTask::steps_per_epoch(const Shard& shard) const {
  return ShardSampler(m_data.train, shard).steps_per_epoch();
}

Loader::Fill ImageTask::training(const Shard& shard) const {
  return [&set = m_data.train, sampler = ShardSampler(m_data.train, shard),
          transform = Transform(m_data, {shard.augment, 4, shard.seed})](Batch& batch) mutable {
    sampler.batch(batch.step, batch.indices);
    batch.epoch = sampler.epoch(batch.step);
    fill_images(set, transform, batch);
  };
}

std::vector<index_t> ImageTask::samples(const Shard& shard) const { return own_samples(m_data.train, shard); }

void ImageTask::fill(const Shard& shard, Batch& batch) const {
  fill_images(m_data.train, Transform(m_data, {shard.augment, 4, shard.seed}), batch);
}

index_t ImageTask::sample_bytes() const {
  return m_data.train.image_size() + static_cast<index_t>(sizeof m_data.train.labels[0]);
}

Trivial ImageTask::trivial() const {
  return trivial_predictor(count_labels(m_data.train.labels), count_labels(m_data.test.labels), m_data.train.classes);
}

bool ImageTask::held_out(Split split, const Shard& shard, index_t number, Batch& batch) const {
  const ImageSet& set = split == Split::test ? m_data.test : m_data.validation;
  const index_t ranks = shard.ranks, first = number * shard.batch * ranks + shard.rank;
  batch.step = number;
  batch.epoch = 0;
  batch.indices.clear();
  for (index_t i = first; i < set.count() && std::ssize(batch.indices) < shard.batch; i += ranks) {
    batch.indices.push_back(i);
  }
  if (batch.indices.empty()) return false;
  fill_images(set, Transform(m_data), batch);
  return true;
}

}  // namespace gradcomp::data
