#pragma once
// The residual networks of He et al. 2016 for small images: those of section 4.2 (ResNet-20 with 10 classes has exactly
// 269,722 parameters), and ResNet-18 in its form for CIFAR (architecture.hpp). Where channels double, shortcuts are
// those of option A (padding with zeros) or option B (a projection).
#include "gradcomp/nn/convolution/projection.hpp"
#include "gradcomp/nn/networks/image_model.hpp"

namespace gradcomp::nn {

template <class T>
class ResNet final : public ImageModel<T> {
 public:
  /// Images are height x width x 3; both extents must be multiples of spec.divisor().
  ResNet(std::string name, const ResNetSpec& spec, int height, int width, int max_batch, int classes, Path path);

  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;

 private:
  using Base = ImageModel<T>;
  using Base::m_classifier, Base::m_images, Base::m_path, Base::m_units, Base::m_workspace, Base::input_of;

  void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
           bool training) override;

  /// The projection of the block whose second unit is `unit`, or null.
  const Projection<T>* projection_of(std::size_t unit) const { return m_projections[unit].get(); }

  std::vector<std::unique_ptr<Projection<T>>> m_projections;  ///< one per unit
  Vector<T> m_pooled;
};

}  // namespace gradcomp::nn
