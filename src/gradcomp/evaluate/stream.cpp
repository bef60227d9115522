#include "gradcomp/evaluate/stream.hpp"

#include <filesystem>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/data/generated/synthetic.hpp"
#include "gradcomp/evaluate/gradient_file.hpp"

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

std::unique_ptr<Stream> make_file_stream(const std::vector<std::string>& paths, const Layout& layout) {
  require(!paths.empty(), "there are no files to read gradients from");
  std::vector<std::vector<float>> arrays;
  std::string name;
  Layout tensors;
  for (const auto& path : paths) {
    GradientFile gradient = read_gradient(path, layout);
    name += (name.empty() ? "" : "+") + gradient.name;
    if (arrays.empty()) tensors = gradient.layout;
    arrays.push_back(std::move(gradient.values));
    require(arrays.back().size() == arrays.front().size(),
            "'{}' holds {} elements, but '{}' holds {}: with --residual-steps all gradients must have the same size",
            path, arrays.back().size(), paths.front(), arrays.front().size());
  }
  return std::make_unique<Files>(name, tensors, std::move(arrays));
}

std::unique_ptr<Stream> make_synthetic_stream(const std::string& distribution, index_t size, const std::string& layout,
                                              std::uint64_t seed) {
  const auto drawn = data::Distribution::parse(distribution);
  if (!layout.empty()) {
    const std::string name = drawn.name + "_" + std::filesystem::path(layout).stem().string();
    return std::make_unique<Synthetic>(drawn, name, read_layout(layout), seed);
  }
  require(size >= 1, "--size {} is not allowed; allowed: at least 1 element", size);
  return std::make_unique<Synthetic>(drawn, drawn.name, Layout::flat(size), seed);
}

}  // namespace gradcomp::evaluate
