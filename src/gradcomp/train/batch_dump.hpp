#pragma once
// Everything with which another implementation can repeat a training (--dump-batches): the network's tensors, the
// initial weights, all batches, and how the weights are updated. python/gradcomp/peers reads it.
#include <span>
#include <string>
#include <vector>

#include "gradcomp/nn/model.hpp"
#include "gradcomp/report/json.hpp"
#include "gradcomp/train/job.hpp"

namespace gradcomp::train {

/// A network and the batches of one rank, all of the same size.
struct ModelDump {
  std::string model;           ///< name of nn/model.hpp
  index_t samples = 0;         ///< images or sequences of a batch
  InputShape input;            ///< of a sample
  Layout layout;               ///< of the parameters
  std::vector<double> losses;  ///< loss of each step, in nats
  /// parameters: [layout.count()]; the others: the arrays of nn::Batch, of one batch after the other. Labels and tokens
  /// are whole numbers below 2^24, which floats hold exactly.
  std::vector<float> parameters, features, labels, tokens;

  /// Appends a batch. Waits for `exec`.
  void add(const Exec& exec, const nn::Batch<float>& batch);

  /// Writes parameters.npy, features.npy, labels.npy and tokens.npy, arrays of one dimension, and model.json with the
  /// tensors, the losses and the members of `more`, to `folder`. Throws Error that names the path and the reason.
  void write(const std::string& folder, const report::Json& more) const;
};

/// Makes this rank's folder, FOLDER/rankR. Throws Error if files cannot be written there, or if the first method draws
/// its batches by importance: they would depend on its losses. Does nothing without a folder.
void check_batch_dump(const Options& options, const std::vector<MethodSpec>& methods, int rank);

/// What one trainer writes to this rank's folder.
class BatchDump {
 public:
  /// `parameters`: the initial ones.
  BatchDump(const Exec& exec, const Job& job, const Span<const float>& parameters);

  void add(const Exec& exec, const nn::Batch<float>& batch) { m_dump.add(exec, batch); }
  void add_loss(double loss) { m_dump.losses.push_back(loss); }

  /// Writes the files. `label`: that of the method whose losses they hold; `rates`: the learning rate of each step.
  void write(const std::string& label, std::span<const double> rates) const;

 private:
  ModelDump m_dump;
  std::string m_folder;
  report::Json m_update;  ///< options of the update
};

}  // namespace gradcomp::train
