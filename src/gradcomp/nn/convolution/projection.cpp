#include "gradcomp/nn/convolution/projection.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/nn/layers/image_sums.hpp"
#include "gradcomp/nn/layers/linear.hpp"

namespace gradcomp::nn {
namespace {

/// Copies every stride-th pixel of every stride-th row of x to `sampled`.
template <class T>
void sample(const Exec& exec, const Maps<const T>& x, int stride, const Maps<T>& sampled) {
  const index_t pixels = index_t(sampled.images) * sampled.height * sampled.width;
  kernels::for_warps(
      "gradcomp::nn::sample_pixels", exec, pixels, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t i) {
        const Site site(sampled, i * sampled.channels);
        const T* from = x.at(site.image, site.row * stride, site.column * stride);
        T* to = sampled.data + i * sampled.channels;
        kernels::each_element(warp, sampled.channels, [&](int, index_t c) { to[c] = from[c]; });
      });
}

template <class T>
Span<T> elements(const Maps<T>& map) {
  return Span<T>(map.data, static_cast<std::size_t>(map.count()));
}

/// The 1x1 convolution as a linear layer whose batch consists of all pixels.
template <class T>
LinearShape shape_of(const Maps<T>& sampled, int out) {
  return {index_t(sampled.images) * sampled.height * sampled.width, sampled.channels, out};
}

}  // namespace

template <class T>
Projection<T>::Projection(Layout& layout, index_t& buffer_offset, const ConvSpec& spec, int max_batch, int height,
                          int width)
    : m_spec(spec),
      m_height(height / spec.stride),
      m_width(width / spec.stride),
      m_segment(layout.segments.size()),
      m_offset(layout.count()),
      m_norm(spec.out, layout.count() + spec.weight_count(), buffer_offset) {
  add_to(layout, spec);
  const index_t pixels = index_t(max_batch) * m_height * m_width;
  m_sampled = Vector<T>("gradcomp::nn::sampled_pixels", pixels * spec.in);
  m_z = Vector<T>("gradcomp::nn::projection_result", pixels * spec.out);
  m_output = Vector<T>("gradcomp::nn::projection", pixels * spec.out);
}

template <class T>
void Projection<T>::reserve(UnitWorkspace<T>& workspace, int max_batch) const {
  const auto grow = [](auto& buffer, const char* label, std::size_t count) {
    if (buffer.extent(0) < count) buffer = std::decay_t<decltype(buffer)>(label, count);
  };
  grow(workspace.projection_sums, "gradcomp::nn::projection_sums",
       static_cast<std::size_t>(2) * max_batch * m_spec.out);
  grow(workspace.projection_dz, "gradcomp::nn::projection_dz", m_z.extent(0));
  grow(workspace.projection_dx, "gradcomp::nn::projection_dx", m_sampled.extent(0));
}

template <class T>
Maps<const T> Projection<T>::forward(const Exec& exec, const Maps<const T>& x, const Span<const T>& parameters,
                                     const Span<T>& buffers, bool training, UnitWorkspace<T>& workspace,
                                     Path path) const {
  const Maps<T> sampled = map(m_sampled, x.images, m_spec.in), z = map(m_z, x.images, m_spec.out);
  sample<T>(exec, x, m_spec.stride, sampled);
  linear_forward<T>(exec, shape_of(sampled, m_spec.out), elements(sampled),
                    subspan(parameters, m_offset, m_spec.weight_count()), {}, false, elements(z), workspace.gemm, path);
  if (training) image_sums<T>(exec, z, z, {}, workspace.projection_sums, path);
  const Maps<T> output = map(m_output, x.images, m_spec.out);
  m_norm.forward(exec, z, workspace.projection_sums, parameters, buffers, training, {}, Activation::none, output, path);
  return output;
}

template <class T>
Maps<const T> Projection<T>::backward(const Exec& exec, const Maps<const T>& g, const Span<const T>& parameters,
                                      const Span<T>& gradient, UnitWorkspace<T>& workspace, Path path) const {
  const Maps<T> sampled = map(m_sampled, g.images, m_spec.in), z = map(m_z, g.images, m_spec.out);
  const Maps<T> dz = map(workspace.projection_dz, g.images, m_spec.out);
  const Maps<T> dx = map(workspace.projection_dx, g.images, m_spec.in);
  const LinearShape shape = shape_of(sampled, m_spec.out);
  const index_t weights = m_spec.weight_count();
  image_sums<T>(exec, g, z, m_norm.mean(), workspace.projection_sums, path);
  m_norm.backward(exec, g, z, workspace.projection_sums, parameters, gradient, dz, path);
  linear_backward_weights<T>(exec, shape, elements(sampled), elements(dz), subspan(gradient, m_offset, weights), {},
                             workspace.gemm, path);
  linear_backward_data<T>(exec, shape, elements(dz), subspan(parameters, m_offset, weights), {}, elements(dx),
                          workspace.gemm, path);
  return dx;
}

template class Projection<float>;
template class Projection<double>;

}  // namespace gradcomp::nn
