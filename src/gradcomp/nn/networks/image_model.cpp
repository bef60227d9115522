#include "gradcomp/nn/networks/image_model.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/networks/initialise.hpp"

namespace gradcomp::nn {
namespace {

/// Copies images [image][row][column][channel] to a map with a halo.
template <class T>
void copy_input(const Exec& exec, const Span<const T>& images, const Maps<T>& to) {
  const index_t length = index_t(to.width) * to.channels;
  kernels::for_warps(
      "gradcomp::nn::copy_input", exec, index_t(to.images) * to.height,
      KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t r) {
        const T* from = images.data() + r * length;
        T* row = to.at(static_cast<int>(r / to.height), static_cast<int>(r % to.height), 0);
        kernels::each_element(warp, length, [&](int, index_t i) { row[i] = from[i]; });
      });
}

}  // namespace

template <class T>
ImageModel<T>::ImageModel(std::string name, int height, int width, int max_batch, int classes, int divisor, Path path)
    : m_name(std::move(name)),
      m_height(height),
      m_width(width),
      m_max_batch(max_batch),
      m_classes(classes),
      m_path(path) {
  require(height > 0 && width > 0 && height % divisor == 0 && width % divisor == 0,
          "{}: image height and width must be multiples of {}, not {} x {}", m_name, divisor, height, width);
  require(max_batch > 0 && classes > 1, "{}: needs a batch of at least 1 and at least 2 classes, not {} and {}", m_name,
          max_batch, classes);
  const Maps<T> input{nullptr, max_batch, height, width, image_channels, 1};
  m_input = Vector<T>("gradcomp::nn::input", input.storage());
}

template <class T>
void ImageModel<T>::add_unit(const ConvSpec& spec, int halo) {
  m_images = 1;  // input_of() is called only for the extents
  const Maps<const T> input = input_of(m_units.size());
  m_units.emplace_back(m_layout, m_buffer_count, spec, m_max_batch, input.height, input.width, halo);
  m_specs.push_back(spec);
  const ConvUnit<T>& unit = m_units.back();
  unit.reserve(m_workspace, m_max_batch, m_path);
  const auto storage = static_cast<std::size_t>(unit.conv_gradient(m_max_batch, {}).storage());
  const bool same_maps = m_units.size() > 1 && !m_units[m_units.size() - 2].spec().pooled && spec.stride == 1 &&
                         m_units[m_units.size() - 2].spec().out == spec.out;
  if (!same_maps) m_dz.emplace_back("gradcomp::nn::conv_result_gradient", storage);
  m_dz_of_unit.push_back(m_dz.size() - 1);
}

template <class T>
void ImageModel<T>::add_classifier(const std::vector<int>& extents) {
  m_classifier = std::make_unique<Classifier<T>>(m_layout, extents, m_max_batch);
}

template <class T>
double ImageModel<T>::step_flops() const {
  double products = 3 * (m_projection_products + m_classifier->products());
  for (const ConvUnit<T>& unit : m_units) {
    products += (&unit == &m_units.front() ? 2 : 3) * unit.products();  // the gradient of the image is not computed
  }
  return 2 * products;
}

template <class T>
void ImageModel<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& buffers) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && index_t(buffers.extent(0)) == m_buffer_count,
          "{}: has {} parameters and {} buffer elements, not {} and {}", m_name, m_layout.count(), m_buffer_count,
          parameters.extent(0), buffers.extent(0));
  initialise_parameters<T>(m_layout, seed, parameters);
  index_t offset = 0;
  for (const ConvSpec& spec : m_specs) {
    for (int c = 0; c < spec.out; ++c) {
      buffers(offset + c) = T(0);
      buffers(offset + spec.out + c) = T(1);
    }
    offset += 2 * spec.out;
  }
}

template <class T>
Maps<const T> ImageModel<T>::input_of(std::size_t unit) const {
  if (unit > 0) return m_units[unit - 1].output(m_images);
  return Maps<T>{m_input.data(), m_images, m_height, m_width, image_channels, 1};
}

template <class T>
Maps<T> ImageModel<T>::gradient_of(std::size_t unit) const {
  return m_units[unit].gradient_of_output(m_images, m_workspace.gradients[unit % 3]);
}

template <class T>
Maps<T> ImageModel<T>::backward_unit(const Exec& exec, std::size_t unit, const Span<const T>& parameters,
                                     const Span<T>& gradient, const Ready& ready) {
  const Maps<T> dz = m_units[unit].backward(exec, input_of(unit), gradient_of(unit), parameters, gradient,
                                            m_dz[m_dz_of_unit[unit]], m_workspace, m_path);
  if (ready) ready(m_units[unit].segment());
  return dz;
}

template <class T>
void ImageModel<T>::start(const Exec& exec, const Batch<T>& batch) {
  require(batch.size() >= 1 && batch.size() <= m_max_batch, "{}: a batch of {} images where 1 to {} are allowed",
          m_name, batch.size(), m_max_batch);
  require(index_t(batch.features.extent(0)) == batch.size() * image_size(),
          "{}: {} image elements for {} labels where each image has {}", m_name, batch.features.extent(0), batch.size(),
          image_size());
  require_weights(m_name, batch, batch.size());
  m_images = static_cast<int>(batch.size());
  copy_input<T>(exec, batch.features, {m_input.data(), m_images, m_height, m_width, image_channels, 1});
}

template <class T>
void ImageModel<T>::forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                            const Batch<T>& batch) {
  start(exec, batch);
  run(exec, parameters, buffers, batch, true);
}

template <class T>
void ImageModel<T>::infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& buffers,
                          const Batch<T>& batch) {
  start(exec, batch);
  run(exec, parameters, buffers, batch, false);  // evaluation only reads the buffers
}

template class ImageModel<float>;
template class ImageModel<double>;

}  // namespace gradcomp::nn
