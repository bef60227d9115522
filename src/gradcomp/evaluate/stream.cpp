#include "gradcomp/evaluate/stream.hpp"

#include <algorithm>
#include <filesystem>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/data/npy.hpp"
#include "gradcomp/data/synthetic.hpp"
#include "gradcomp/nn/shapes.hpp"

namespace gradcomp::evaluate {
namespace {

/// A device array that is filled from host memory.
class Uploaded : public Stream {
 public:
  Uploaded(std::string name, Layout tensors)
      : Stream(std::move(name), std::move(tensors)),
        m_device("gradcomp::evaluate::gradient", static_cast<std::size_t>(layout().count())) {}

 protected:
  Span<const float> upload(const Exec& exec, const std::vector<float>& host) {
    Kokkos::deep_copy(exec, m_device, HostSpan<const float>(host.data(), host.size()));
    wait(exec, "gradcomp::evaluate::upload");
    return m_device;
  }

 private:
  Vector<float> m_device;
};

std::vector<float> finite_values(const std::string& path, data::NpyArray array) {
  require(!array.values.empty(), "'{}' holds no elements", path);
  const auto bad =
      std::count_if(array.values.begin(), array.values.end(), [](float v) { return !Source::is_finite(v); });
  require(bad == 0, "'{}' holds {} values that are not finite", path, bad);
  return std::move(array.values);
}

class Files final : public Uploaded {
 public:
  Files(std::string name, Layout layout, std::vector<std::vector<float>> arrays)
      : Uploaded(std::move(name), std::move(layout)), m_arrays(std::move(arrays)) {}
  Span<const float> next(const Exec& exec) override { return upload(exec, m_arrays[m_step++ % m_arrays.size()]); }

 private:
  std::vector<std::vector<float>> m_arrays;
  std::size_t m_step = 0;
};

class Synthetic final : public Uploaded {
 public:
  Synthetic(const data::Distribution& distribution, const std::string& name, const Layout& tensors, std::uint64_t seed)
      : Uploaded(name, tensors),
        m_distribution(distribution),
        m_seed(seed),
        m_host(static_cast<std::size_t>(tensors.count())) {}
  Span<const float> next(const Exec& exec) override {
    data::fill(m_distribution, m_seed, m_step++, m_host);
    return upload(exec, m_host);
  }

 private:
  data::Distribution m_distribution;
  std::uint64_t m_seed, m_step = 0;
  std::vector<float> m_host;
};

}  // namespace

std::unique_ptr<Stream> make_file_stream(const std::vector<std::string>& paths) {
  require(!paths.empty(), "no files to read gradients from");
  std::vector<std::vector<float>> arrays;
  std::string name;
  Layout layout;
  for (const auto& path : paths) {
    data::NpyArray array = data::read_npy(path);
    const std::string stem = std::filesystem::path(path).stem().string();
    name += (name.empty() ? "" : "+") + stem;
    if (arrays.empty()) layout.add(stem, array.shape);
    arrays.push_back(finite_values(path, std::move(array)));
    require(arrays.back().size() == arrays.front().size(),
            "'{}' holds {} elements, '{}' {}; a loop needs as many in each", path, arrays.back().size(), paths.front(),
            arrays.front().size());
  }
  return std::make_unique<Files>(name, layout, std::move(arrays));
}

std::unique_ptr<Stream> make_synthetic_stream(const std::string& distribution, index_t size, const std::string& model,
                                              std::uint64_t seed) {
  const auto drawn = data::Distribution::parse(distribution);
  if (!model.empty())
    return std::make_unique<Synthetic>(drawn, drawn.name + "_" + model, nn::model_shapes(model), seed);
  require(size >= 1, "--size {} is not allowed; at least 1 element", size);
  return std::make_unique<Synthetic>(drawn, drawn.name, Layout::flat(size), seed);
}

}  // namespace gradcomp::evaluate
