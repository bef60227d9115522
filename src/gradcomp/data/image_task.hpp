#pragma once
// Images as a task. Every epoch has a new permutation of the images, which are dealt to ranks evenly or skewed by label
// (shards.hpp), and then augmented and normalised (transform.hpp).
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/task.hpp"

namespace gradcomp::data {

class ImageTask final : public Task {
 public:
  explicit ImageTask(ImageData data) : m_data(std::move(data)) {}

  const ImageData& data() const { return m_data; }

  const std::string& name() const override { return m_data.name; }
  const std::string& crc() const override { return m_data.crc; }
  InputShape shape() const override;
  index_t steps_per_epoch(const Shard& shard) const override;
  Loader::Fill training(const Shard& shard) const override;
  Trivial trivial() const override;
  std::vector<index_t> samples(const Shard& shard) const override;
  void fill(const Shard& shard, Batch& batch) const override;
  index_t sample_bytes() const override;
  bool held_out(Split split, const Shard& shard, index_t number, Batch& batch) const override;

 private:
  ImageData m_data;
};

}  // namespace gradcomp::data
