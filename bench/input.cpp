#include "input.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/data/npy.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {
namespace {

Input read_input(const std::string& path) {
  require(path.ends_with(".npy"), "--data '{}' is not known; allowed: laplace and paths of .npy files", path);
  data::NpyArray array = data::read_npy(path);
  require(!array.values.empty(), "'{}' holds no elements", path);
  const auto bad =
      std::count_if(array.values.begin(), array.values.end(), [](float v) { return !Source::is_finite(v); });
  require(bad == 0, "'{}' holds {} values that are not finite", path, bad);
  Input input;
  input.data = std::filesystem::path(path).stem().string();
  input.elements = static_cast<index_t>(array.values.size());
  input.layout =
      array.shape.size() >= 2 ? Layout().add(input.data, std::move(array.shape)) : layer_like(input.elements);
  input.values = std::make_shared<const std::vector<float>>(std::move(array.values));
  return input;
}

}  // namespace

std::string Input::name() const {
  return values == nullptr ? fmt::format("{}", elements) : fmt::format("{}/{}", elements, data);
}

std::vector<Input> make_inputs(const BenchOptions& options) {
  std::vector<Input> inputs;
  for (const index_t elements : options.sizes) inputs.push_back({"laplace", elements, layer_like(elements), nullptr});
  for (const auto& item : options.data) {
    if (item != "laplace") inputs.push_back(read_input(item));
  }
  std::set<std::string> names;
  for (const auto& input : inputs)
    require(names.insert(input.name()).second, "input {} is given twice; every size and file once", input.name());
  return inputs;
}

Vector<float> upload_input(const Exec& exec, const Input& input, std::uint64_t seed) {
  if (input.values == nullptr) return laplace_gradient(exec, input.elements, seed);
  Vector<float> gradient("gradcomp::bench::gradient", input.values->size());
  Kokkos::deep_copy(exec, gradient, HostSpan<const float>(input.values->data(), input.values->size()));
  exec.fence("gradcomp::bench::upload_input");
  return gradient;
}

}  // namespace gradcomp::bench
