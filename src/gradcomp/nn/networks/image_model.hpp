#pragma once
// What the image models share: their input, their units and classifier, everything of Model but the two passes.
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
  /// Images are height x width x 3; throws Error unless both extents are multiples of `divisor`.
  ImageModel(std::string name, int height, int width, int max_batch, int classes, int divisor, Path path);

  /// For the constructor of a model: appends a unit behind the last one, or the classifier.
  void add_unit(const ConvSpec& spec, int halo = 1);
  void add_classifier(const std::vector<int>& extents);

  /// The convolutions of a batch and then the classifier.
  virtual void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
                   bool training) = 0;

  /// Of unit `unit` in the last forward; that of the one behind the last is the last one's output.
  Maps<const T> input_of(std::size_t unit) const;

  /// The unit's own gradients from that of its output, and what backward_data needs.
  Maps<T> backward_unit(const Exec& exec, std::size_t unit, const Span<const T>& parameters, const Span<T>& gradient,
                        const Ready& ready);
  Maps<T> gradient_of(std::size_t unit) const;

  std::string m_name;
  int m_height, m_width, m_max_batch, m_classes;
  Path m_path;
  Layout m_layout;
  index_t m_buffer_count = 0;
  std::vector<ConvUnit<T>> m_units;
  std::vector<ConvSpec> m_specs;  ///< of all batch norms, in the order of the buffers
  double m_projection_products = 0;
  std::unique_ptr<Classifier<T>> m_classifier;
  UnitWorkspace<T> m_workspace;
  int m_images = 0;  ///< of the last forward

 private:
  void start(const Exec& exec, const Batch<T>& batch);

  Vector<T> m_input;
  std::vector<Vector<T>> m_dz;            ///< one per shape of map, so that the halo stays zero
  std::vector<std::size_t> m_dz_of_unit;  ///< index in m_dz
};

}  // namespace gradcomp::nn
