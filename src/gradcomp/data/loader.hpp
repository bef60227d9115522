#pragma once
// Prepares the next batches on a separate thread while the step runs. A batch is a pure function of its step
// (task.hpp), so that the thread and its timing do not change it.
#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// The samples of one rank in one step. Images are in the order NHWC (image, row, column, channel).
struct Batch {
  index_t step = 0, epoch = 0;
  std::vector<index_t> indices;  ///< numbers of the samples in their set; texts: positions of the first tokens
  /// Normalised images, [images][height][width][channels], or sequences of frames, [sequences][length][features].
  std::vector<float> features;
  std::vector<std::int32_t> tokens;  ///< language models: [sequences][length]
  std::vector<std::int32_t> labels;  ///< one per image, sequence of frames, or token
  std::vector<float> weights;        ///< weight of each sample's loss in the mean over the batch; empty: all are 1
  bool restart = false;              ///< sequences begin anew: the hidden state of the previous batch is not used
};

class Loader {
 public:
  /// Fills a batch whose `step` is set; runs on the loader's thread.
  using Fill = std::function<void(Batch&)>;

  /// Prepares the batches of the steps first_step, first_step + 1, ... without end. What `fill` refers to must outlive
  /// the loader.
  explicit Loader(Fill fill, index_t first_step = 0);
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  /// Stops the thread. If it is filling a batch, waits until that batch is finished.
  ~Loader();

  /// Waits for the batch of the next step and returns it. It is valid until the next call. If filling a batch threw an
  /// exception, this function throws it at that step and at every later call.
  const Batch& next();

 private:
  void run(const std::stop_token& stop, index_t first_step);

  static constexpr index_t depth = 2;  ///< batches ready ahead of the one in use
  Fill m_fill;
  std::array<Batch, depth + 1>
      m_ring;  ///< step s is in slot s % (depth + 1); slots are reused, so that memory is soon no longer allocated
  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  index_t m_ready;  ///< smaller steps are filled
  index_t m_taken;  ///< next() returned all smaller steps; the last of them is still in use
  std::exception_ptr m_error;
  std::jthread m_thread;  ///< the last member, so that the thread runs only while all others exist
};

}  // namespace gradcomp::data
