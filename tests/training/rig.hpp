#pragma once
// A job that trains in milliseconds: ResNet-20 on 8 x 8 images.
#include <unistd.h>

#include <filesystem>

#include "distributed/world.hpp"
#include "gradcomp/data/counter_rng.hpp"
#include "gradcomp/data/image_task.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/train/comparison.hpp"

namespace gradcomp::train::test {

using gradcomp::test::world;

/// Noise and one bright row per class, which a model learns within a few steps.
inline void fill(data::ImageSet& set, index_t count, std::uint64_t seed) {
  set.height = set.width = 8;
  set.channels = 3;
  set.classes = 4;
  data::CounterRng rng(seed);
  for (index_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint8_t>(rng.below(4));
    set.labels.push_back(label);
    for (index_t p = 0; p < set.image_size(); ++p) {
      const bool bright = p / 48 == label;
      set.pixels.push_back(static_cast<std::uint8_t>(rng.below(128) + (bright ? 100 : 0)));
    }
  }
}

inline data::ImageTask make_task() {
  data::ImageData data;
  fill(data.train, 40, 1);
  fill(data.test, 21, 2);
  fill(data.validation, 17, 3);
  data.name = "rows";
  data::describe(data);
  return data::ImageTask(std::move(data));
}

inline Options small_options() {
  Options o;
  o.steps = 8;
  o.batch = 4;
  o.block = 2;
  o.bucket_kib = 300;
  o.evaluate_every = 4;
  return o;
}

struct Rig {
  Options options = small_options();
  std::unique_ptr<data::Task> task = std::make_unique<data::ImageTask>(make_task());
  std::unique_ptr<nn::Model<float>> model = nn::make_model<float>("resnet20", 8, 8, 4, 4);
  std::unique_ptr<Transport> transport = world(), control = world();
  std::function<void(const std::string& label)> on_step = [](const std::string&) {};  ///< called before each step

  Job job() { return {options, *task, *model, *transport, *control}; }

  std::vector<Contender> parse(const std::string& methods) const { return contenders(options, parse_methods(methods)); }

  std::vector<MethodResult> run(const std::string& methods, const Checkpoints* checkpoints = nullptr) {
    return compare(Exec(), job(), parse(methods), on_step, checkpoints);
  }
};

/// A folder for this test, the same one on all ranks. It is removed before and after the test.
class Folder {
 public:
  explicit Folder(Transport& comm) : m_comm(comm) {
    const auto pids = gather_texts(comm, std::to_string(::getpid()));
    m_path = std::filesystem::temp_directory_path() / ("gradcomp_training_" + pids[0]);
    remove();
  }
  ~Folder() { remove(); }
  std::string path() const { return m_path.string(); }

 private:
  void remove() {
    barrier(m_comm);
    std::error_code error;
    if (m_comm.rank() == 0) std::filesystem::remove_all(m_path, error);
    barrier(m_comm);
  }

  Transport& m_comm;
  std::filesystem::path m_path;
};

}  // namespace gradcomp::train::test
