// Writes what tests/golden/image_models_numpy.py needs in order to recompute a training step of an image model:
//   nn_dump FOLDER MODEL float|double EXTENT BATCH
// MODEL is an image model (nn/models/), or a smaller form of one, "narrow_resnet18" or "narrow_vgg". Files are the raw
// native arrays parameters, state, images, labels (int32), gradient and new_state, and layout.txt with one line
// "name offset extents..." per tensor. Prints the training and the evaluation loss (means, in nats).
#include <cstdlib>
#include <iostream>

#include "dump.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/nn/networks/resnet.hpp"
#include "gradcomp/nn/networks/vgg.hpp"

namespace gradcomp::nn {
namespace {

constexpr int classes = 10;

template <class T>
std::unique_ptr<Model<T>> make(const std::string& name, int extent, int batch) {
  if (name == "narrow_resnet18") {
    const ResNetSpec spec{.stages = 4, .blocks = 2, .channels = 16, .projections = true};
    return std::make_unique<ResNet<T>>(name, spec, extent, extent, batch, classes, Path::best);
  }
  if (name == "narrow_vgg") {
    const VggSpec spec{{{16}, {32}, {48, 64}}, 72};
    return std::make_unique<Vgg<T>>(name, spec, extent, extent, batch, classes, Path::best);
  }
  return make_model<T>(name, extent, extent, batch, classes);
}

template <class T>
void dump(const std::string& folder, const std::string& name, int extent, int batch) {
  const Exec exec;
  const auto model = make<T>(name, extent, batch);
  const Vector<T> parameters("parameters", model->layout().count()), gradient("gradient", model->layout().count());
  const Vector<T> buffers("buffers", model->buffer_count()), images("images", batch * model->image_size());
  const Vector<std::int32_t> labels("labels", batch);
  {
    const auto host = Kokkos::create_mirror_view(parameters);
    const auto host_buffers = Kokkos::create_mirror_view(buffers);
    const auto host_labels = Kokkos::create_mirror_view(labels);
    model->initialise(3, HostSpan<T>(host.data(), host.extent(0)),
                      HostSpan<T>(host_buffers.data(), host_buffers.extent(0)));
    for (int i = 0; i < batch; ++i) host_labels(i) = i * 3 % classes;
    Kokkos::deep_copy(parameters, host);
    Kokkos::deep_copy(buffers, host_buffers);
    Kokkos::deep_copy(labels, host_labels);
  }
  perturb(parameters, 100, 0.05);
  perturb(buffers, 101, 0.05);
  perturb(images, 102, 1.0);
  write(folder + "/parameters", parameters);
  write(folder + "/state", buffers);
  write(folder + "/images", images);
  write(folder + "/labels", labels);

  const Batch<T> data{images, labels};
  const Loss evaluated = model->evaluate(exec, parameters, buffers, data);
  const Loss trained = model->train_step(exec, parameters, buffers, data, gradient);
  write(folder + "/gradient", gradient);
  write(folder + "/new_state", buffers);
  write_layout(folder, model->layout());
  std::cout << fmt::format("{:.17g} {:.17g}\n", trained.mean(), evaluated.mean());
}

}  // namespace
}  // namespace gradcomp::nn

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  if (argc != 6) {
    std::cerr << "usage: nn_dump FOLDER MODEL float|double EXTENT BATCH\n";
    return 2;
  }
  const int extent = std::atoi(argv[4]), batch = std::atoi(argv[5]);
  if (std::string(argv[3]) == "double") {
    gradcomp::nn::dump<double>(argv[1], argv[2], extent, batch);
  } else {
    gradcomp::nn::dump<float>(argv[1], argv[2], extent, batch);
  }
  return 0;
}
