#pragma once
// Prepares the next batches on a thread of its own while the step runs. Batches are the same as without the thread, for
// any timing: each is a pure function of its step (task.hpp).
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

struct Batch {
  index_t step = 0, epoch = 0;
  std::vector<index_t> indices;  ///< into the set
  /// indices.size() x image_size(), NHWC, normalised; frames: [sequences][length][features]
  std::vector<float> features;
  std::vector<std::int32_t> tokens;  ///< language models: [sequences][length]
  std::vector<std::int32_t> labels;  ///< one per image, or one per token
  std::vector<float> weights;        ///< one per sample, of its loss in the mean over the batch; empty: all 1
  bool restart = false;              ///< texts begin anew: no hidden state comes from the batch before
};

class Loader {
 public:
  /// Fills a batch whose `step` is set; runs on the loader's thread.
  using Fill = std::function<void(Batch&)>;

  /// Batches of steps first, first + 1, ..., without end. What `fill` refers to must outlive the loader.
  explicit Loader(Fill fill, index_t first_step = 0);
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  /// Stops the thread; at most one batch is still finished.
  ~Loader();

  /// The batch of the next step; waits for it. Valid until the next call. An exception of the thread is thrown here, at
  /// the step that it belongs to and at every later call.
  const Batch& next();

 private:
  void run(const std::stop_token& stop, index_t first_step);

  static constexpr index_t depth = 2;  ///< batches ready ahead of the one in use
  Fill m_fill;
  std::array<Batch, depth + 1>
      m_ring;  ///< step s lives in slot s % (depth + 1); nothing is allocated after the first turn
  std::mutex m_mutex;
  std::condition_variable_any m_changed;
  index_t m_ready;  ///< steps below are filled
  index_t m_taken;  ///< steps below were handed out; the last of them is still in use
  std::exception_ptr m_error;
  std::jthread m_thread;  ///< last member: it starts when all others exist and ends before they go
};

}  // namespace gradcomp::data
