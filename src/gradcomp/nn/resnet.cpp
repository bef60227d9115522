#include "gradcomp/nn/resnet.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/initialise.hpp"
#include "gradcomp/nn/linear.hpp"
#include "gradcomp/nn/pool.hpp"

namespace gradcomp::nn {
namespace {

constexpr int stages = 3, base_channels = 16;
constexpr int last_channels = base_channels << (stages - 1);

/// Images [n][h][w][c] into a map with a halo.
template <class T>
void copy_input(const Exec& exec, const Span<const T>& images, const Maps<T>& to) {
  Kokkos::parallel_for(
      "gradcomp::nn::copy_input", Kokkos::RangePolicy<Exec>(exec, 0, to.images * to.height),
      KOKKOS_LAMBDA(const int r) {
        const index_t length = index_t(to.width) * to.channels;
        const T* from = images.data() + r * length;
        T* row = to.at(r / to.height, r % to.height, 0);
        for (index_t i = 0; i < length; ++i) row[i] = from[i];
      });
}

}  // namespace

template <class T>
ResNet<T>::ResNet(std::string name, int blocks, int height, int width, int max_batch, int classes, Path path)
    : m_name(std::move(name)),
      m_height(height),
      m_width(width),
      m_max_batch(max_batch),
      m_classes(classes),
      m_path(path),
      m_workspace{{max_batch, index_t(9) * last_channels * last_channels}, {}, {}} {
  require(height > 0 && width > 0 && height % 4 == 0 && width % 4 == 0,
          "{}: image height and width must be multiples of 4, not {} x {}", m_name, height, width);
  require(max_batch > 0 && classes > 1, "{}: needs a batch of at least 1 and at least 2 classes, not {} and {}", m_name,
          max_batch, classes);
  m_units.emplace_back(m_layout, m_state_count, "", 1, max_batch, height, width, image_channels, base_channels, 1);
  for (int stage = 0; stage < stages; ++stage) {
    for (int block = 0; block < blocks; ++block) {
      const std::string prefix = fmt::format("stage{}.block{}.", stage + 1, block);
      const int co = base_channels << stage, stride = stage > 0 && block == 0 ? 2 : 1;
      for (int conv = 1; conv <= 2; ++conv) {
        const ConvUnit<T>& last = m_units.back();
        const int h = last.height(), w = last.width(), ci = last.channels();
        m_units.emplace_back(m_layout, m_state_count, prefix, conv, max_batch, h, w, ci, co, conv == 1 ? stride : 1);
      }
    }
    const Maps<T> dz = m_units.back().output(max_batch);
    m_dz.emplace_back("gradcomp::nn::conv_result_gradient", dz.storage());
  }
  m_linear = m_layout.segments.size();
  m_layout.add("linear.weight", {last_channels, classes});
  m_layout.add("linear.bias", {classes});

  m_input = Vector<T>("gradcomp::nn::input", input_of(0).image_stride() * max_batch);
  m_workspace.sums = Vector<double>("gradcomp::nn::sums", index_t(2) * max_batch * last_channels);
  for (Vector<T>& gradient : m_workspace.gradients) {
    gradient = Vector<T>("gradcomp::nn::map_gradient", index_t(max_batch) * height * width * base_channels);
  }
  m_pooled = Vector<T>("gradcomp::nn::pooled", index_t(max_batch) * last_channels);
  m_pooled_gradient = Vector<T>("gradcomp::nn::pooled_gradient", m_pooled.extent(0));
  m_logits = Vector<T>("gradcomp::nn::logits", index_t(max_batch) * classes);
  m_logit_gradient = Vector<T>("gradcomp::nn::logit_gradient", m_logits.extent(0));
  m_losses = Vector<double>("gradcomp::nn::losses", max_batch);
  m_hits = Vector<Hit>("gradcomp::nn::hits", max_batch);
  m_host_losses = Kokkos::create_mirror_view(m_losses);
  m_host_hits = Kokkos::create_mirror_view(m_hits);
}

template <class T>
double ResNet<T>::step_flops() const {
  double products = 0;
  for (const ConvUnit<T>& unit : m_units) {
    const int parts = &unit == &m_units.front() ? 2 : 3;  // nobody wants the gradient of the image
    products += static_cast<double>(parts * unit.weight_count() * unit.height() * unit.width());
  }
  return 2 * (products + 3.0 * last_channels * m_classes);
}

template <class T>
void ResNet<T>::initialise(std::uint64_t seed, const HostSpan<T>& parameters, const HostSpan<T>& state) const {
  require(index_t(parameters.extent(0)) == m_layout.count() && index_t(state.extent(0)) == m_state_count,
          "{}: has {} parameters and {} state elements, not {} and {}", m_name, m_layout.count(), m_state_count,
          parameters.extent(0), state.extent(0));
  initialise_parameters<T>(m_layout, seed, parameters);
  index_t offset = 0;
  for (const ConvUnit<T>& unit : m_units) {
    for (int c = 0; c < unit.channels(); ++c) {
      state(offset + c) = T(0);
      state(offset + unit.channels() + c) = T(1);
    }
    offset += 2 * unit.channels();
  }
}

template <class T>
Maps<const T> ResNet<T>::input_of(std::size_t unit) const {
  if (unit > 0) return m_units[unit - 1].output(m_images);
  return Maps<T>{m_input.data(), m_images, m_height, m_width, image_channels, 1};
}

template <class T>
const Vector<T>& ResNet<T>::dz_buffer(const ConvUnit<T>& unit) const {
  return m_dz[unit.channels() == last_channels ? 2 : unit.channels() == base_channels ? 0 : 1];
}

template <class T>
void ResNet<T>::run(const Exec& exec, const Span<const T>& parameters, const Span<T>& state, const Batch<T>& batch,
                    bool training) {
  require(batch.size() >= 1 && batch.size() <= m_max_batch, "{}: a batch of {} images where 1 to {} are allowed",
          m_name, batch.size(), m_max_batch);
  require(index_t(batch.images.extent(0)) == batch.size() * image_size(),
          "{}: {} image elements for {} labels where each image has {}", m_name, batch.images.extent(0), batch.size(),
          image_size());
  m_images = static_cast<int>(batch.size());
  copy_input<T>(exec, batch.images, {m_input.data(), m_images, m_height, m_width, image_channels, 1});
  for (std::size_t u = 0; u < m_units.size(); ++u) {
    Shortcut<T> shortcut;
    if (u > 0 && u % 2 == 0) shortcut = {input_of(u - 1), m_units[u - 1].stride()};  // the second unit of a block
    m_units[u].forward(exec, input_of(u), parameters, state, training, shortcut, m_workspace, m_path);
  }
  const LinearShape shape{m_images, last_channels, m_classes};
  const Segment &weight = m_layout.segments[m_linear], &bias = m_layout.segments[m_linear + 1];
  global_average_pool<T>(exec, input_of(m_units.size()), m_pooled);
  linear_forward<T>(exec, shape, m_pooled, subspan(parameters, weight.offset, weight.count),
                    subspan(parameters, bias.offset, bias.count), m_logits);
  softmax_cross_entropy<T>(exec, m_classes, m_logits, batch.labels, m_losses, m_hits,
                           training ? Span<T>(m_logit_gradient) : Span<T>());
}

template <class T>
void ResNet<T>::forward(const Exec& exec, const Span<const T>& parameters, const Span<T>& state,
                        const Batch<T>& batch) {
  run(exec, parameters, state, batch, true);
}

template <class T>
void ResNet<T>::infer(const Exec& exec, const Span<const T>& parameters, const Span<T>& state, const Batch<T>& batch) {
  // evaluation mode only reads the state
  run(exec, parameters, state, batch, false);
}

template <class T>
void ResNet<T>::backward(const Exec& exec, const Span<const T>& parameters, const Span<T>& gradient,
                         const Ready& ready) {
  const LinearShape shape{m_images, last_channels, m_classes};
  const Segment &weight = m_layout.segments[m_linear], &bias = m_layout.segments[m_linear + 1];
  linear_backward_weights<T>(exec, shape, m_pooled, m_logit_gradient, subspan(gradient, weight.offset, weight.count),
                             subspan(gradient, bias.offset, bias.count));
  if (ready) ready(m_linear);
  linear_backward_data<T>(exec, shape, m_logit_gradient, subspan(parameters, weight.offset, weight.count),
                          m_pooled_gradient);
  const auto gradient_of = [this](std::size_t unit) {
    return m_units[unit].gradient_of_output(m_images, m_workspace.gradients[unit % 3]);
  };
  const std::size_t last = m_units.size() - 1;
  global_average_pool_backward<T>(exec, m_pooled_gradient, m_units[last].behind(m_images, m_workspace),
                                  gradient_of(last));
  for (std::size_t u = last + 1; u-- > 0;) {
    const ConvUnit<T>& unit = m_units[u];
    const Maps<T> dz =
        unit.backward(exec, input_of(u), gradient_of(u), parameters, gradient, dz_buffer(unit), m_workspace, m_path);
    if (ready) ready(unit.segment());
    if (u == 0) break;
    ReluBackward<T> behind = m_units[u - 1].behind(m_images, m_workspace);
    if (u % 2 == 1) {  // the first unit of a block: its input also went through the shortcut
      behind.shortcut = gradient_of(u + 1);
      behind.shortcut_stride = unit.stride();
    }
    unit.backward_data(exec, dz, parameters, behind, gradient_of(u - 1), m_workspace, m_path);
  }
}

template <class T>
Loss ResNet<T>::loss(const Exec& exec) {
  Kokkos::deep_copy(exec, m_host_losses, m_losses);
  Kokkos::deep_copy(exec, m_host_hits, m_hits);
  exec.fence("gradcomp::nn::loss");
  Loss loss{0, 0, m_images};
  for (int image = 0; image < m_images; ++image) {
    require(m_host_hits(image) != Hit::bad_label, "{}: the label of image {} of the batch is not one of {} classes",
            m_name, image, m_classes);
    loss.sum += m_host_losses(image);
    loss.correct += m_host_hits(image) == Hit::right ? 1 : 0;
  }
  return loss;
}

template class ResNet<float>;
template class ResNet<double>;

}  // namespace gradcomp::nn
