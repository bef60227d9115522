#pragma once
// What the image models share: their input, units and classifier, and all of Model except run() and backward().
#include "gradcomp/nn/convolution/conv_unit.hpp"
#include "gradcomp/nn/networks/classifier.hpp"

namespace gradcomp::nn {

template <class T>
class ImageModel : public Model<T> {
 public:
  const std::string& name() const override { return m_name; }
  const Layout& layout() const override { return m_layout; }
  index_t buffer_count() const override { return m_buffer_count; }
  bool has_statistics() const override { return true; }
  int max_batch() const override { return m_max_batch; }
  int classes() const override { return m_classes; }
  index_t image_size() const override { return index_t(m_height) * m_width * image_channels; }
  double step_flops() const override;

  void initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const override;
  void forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
               const Batch<T>& batch) override;
  void infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch) override;
  Loss loss(const Exec& exec) override { return m_classifier->loss(exec, m_name); }
  void sample_losses(const Exec& exec, const Span<float>& losses) const override {
    m_classifier->losses().sample_losses(exec, m_name, losses);
  }

 protected:
  /// Images are height x width x 3. Throws Error unless both extents are multiples of `divisor`, the batch has at least
  /// 1 image, and there are at least 2 classes.
  ImageModel(std::string name, int height, int width, int max_batch, int classes, int divisor, Path path);

  /// The constructor of a model calls these to append units and then the classifier.
  void add_unit(const ConvSpec& spec, int halo = 1);
  void add_classifier(const std::vector<int>& extents);

  /// Runs the units and then the classifier on a batch.
  virtual void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                   bool training) = 0;

  /// Input of unit `unit` in the last forward pass. input_of(m_units.size()) is the output of the last unit.
  Maps<const T> input_of(std::size_t unit) const;

  /// Writes the gradients of the unit's parameters, from gradient_of(unit), and calls `ready`. Returns dz, which
  /// ConvUnit::backward_data() needs.
  Maps<T> backward_unit(const Exec& exec, std::size_t unit, const Span<const T>& parameters, const Span<T>& gradient,
                        const Ready& ready);
  /// Map for the gradient of the unit's output in the workspace.
  Maps<T> gradient_of(std::size_t unit) const;

  std::string m_name;
  int m_height, m_width, m_max_batch, m_classes;
  Path m_path;
  Layout m_layout;
  index_t m_buffer_count = 0;
  std::vector<ConvUnit<T>> m_units;
  std::vector<ConvSpec> m_specs;  ///< one per batch norm, in the order of the buffers
  double m_projection_products = 0;
  std::unique_ptr<Classifier<T>> m_classifier;
  UnitWorkspace<T> m_workspace;
  int m_images = 0;  ///< images of the last batch

 private:
  void start(const Exec& exec, const Batch<T>& batch);

  Vector<T> m_input;
  std::vector<Vector<T>> m_dz;  ///< shared only by units whose maps have the same shape, so that halos stay zero
  std::vector<std::size_t> m_dz_of_unit;  ///< for each unit, an index in m_dz
};

}  // namespace gradcomp::nn
