#pragma once
// A task that counts how often each of its sets is read.
#include <map>
#include <set>

#include "gradcomp/data/task.hpp"

namespace gradcomp::train::test {

class WatchedTask final : public data::Task {
 public:
  explicit WatchedTask(std::unique_ptr<data::Task> inner) : m_inner(std::move(inner)) {}
  const std::string& name() const override { return m_inner->name(); }
  const std::string& crc() const override { return m_inner->crc(); }
  InputShape shape() const override { return m_inner->shape(); }
  data::Trivial trivial() const override { return m_inner->trivial(); }
  index_t steps_per_epoch(const data::Shard& shard) const override { return m_inner->steps_per_epoch(shard); }
  data::Loader::Fill training(const data::Shard& shard) const override {
    seeds.insert(shard.seed);
    return m_inner->training(shard);
  }
  std::vector<index_t> samples(const data::Shard& shard) const override { return m_inner->samples(shard); }
  void fill(const data::Shard& shard, data::Batch& batch) const override { m_inner->fill(shard, batch); }
  index_t sample_bytes() const override { return m_inner->sample_bytes(); }
  bool held_out(data::Split split, const data::Shard& shard, index_t number, data::Batch& batch) const override {
    const bool more = m_inner->held_out(split, shard, number, batch);
    passes[split] += more ? 0 : 1;
    return more;
  }

  mutable std::map<data::Split, int> passes;  ///< complete passes over each set
  mutable std::set<std::uint64_t> seeds;      ///< seeds of training batches

 private:
  std::unique_ptr<data::Task> m_inner;
};

}  // namespace gradcomp::train::test
