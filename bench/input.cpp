#include "input.hpp"

#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/spec_part.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/exchange/one_rank.hpp"

namespace gradcomp::bench {
namespace {

/// `paths`: one path, or the paths of a stream with '+' between them.
Input read_input(const std::string& paths) {
  Input input;
  std::vector<std::vector<float>> recorded;
  std::vector<index_t> shape;
  for (const std::string& path : split_words(paths, '+')) {
    require(path.ends_with(".npy"), "--data '{}' is not known; allowed: laplace and paths of .npy files", path);
    data::NpyArray array = data::as_gradient(path, data::read_npy(path));
    require(recorded.empty() || array.shape == shape, "'{}' has the shape {}; the first file of its stream has {}",
            path, fmt::join(array.shape, "x"), fmt::join(shape, "x"));
    if (recorded.empty()) input.data = std::filesystem::path(path).stem().string();
    shape = array.shape;
    recorded.push_back(std::move(array.values));
  }
  input.elements = static_cast<index_t>(recorded.front().size());
  input.layout = shape.size() >= 2 ? Layout().add(input.data, shape) : layer_like(input.elements);
  input.recorded = std::make_shared<const std::vector<std::vector<float>>>(std::move(recorded));
  return input;
}

}  // namespace

std::string Input::name() const {
  return recorded == nullptr ? fmt::format("{}", elements) : fmt::format("{}/{}", elements, data);
}

std::vector<Input> make_inputs(const BenchOptions& options) {
  std::vector<Input> inputs;
  for (const index_t elements : options.sizes) inputs.push_back({"laplace", elements, layer_like(elements)});
  for (const auto& item : options.data) {
    if (item != "laplace") inputs.push_back(read_input(item));
  }
  std::set<std::string> names;
  for (const auto& input : inputs)
    require(names.insert(input.name()).second, "input {} is given twice; allowed: every size and file once",
            input.name());
  return inputs;
}

GradientStream make_stream(const Exec& exec, const Input& input, std::uint64_t seed, index_t length) {
  if (input.recorded != nullptr) return GradientStream(exec, input.recorded, length);
  return GradientStream(exec, input.elements, seed, length);
}

}  // namespace gradcomp::bench
