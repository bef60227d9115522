#pragma once
// The networks of Simonyan and Zisserman 2015 (VGG), which have no shortcuts, with batch norm. Most of their parameters
// are in the few huge tensors of the fully connected layers.
#include "gradcomp/nn/networks/image_model.hpp"

namespace gradcomp::nn {

template <class T>
class Vgg final : public ImageModel<T> {
 public:
  /// Images are height x width x 3; both extents must be multiples of spec.divisor().
  Vgg(std::string name, const VggSpec& spec, int height, int width, int max_batch, int classes, Path path);

  void backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                const Ready& ready) override;

 private:
  using Base = ImageModel<T>;
  using Base::m_classifier, Base::m_images, Base::m_path, Base::m_units, Base::m_workspace, Base::input_of;

  void run(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers, const Batch<T>& batch,
           bool training) override;

  /// The last maps, [images][height x width x channels]. They have no halo.
  Span<const T> features() const;
};

}  // namespace gradcomp::nn
