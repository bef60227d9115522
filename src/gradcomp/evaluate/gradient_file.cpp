#include "gradcomp/evaluate/gradient_file.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/core/spec_part.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npz.hpp"
#include "gradcomp/nn/networks/shapes.hpp"

namespace gradcomp::evaluate {
namespace {

namespace fs = std::filesystem;

/// The tensors of one gradient.
std::vector<data::NamedArray> tensors(const fs::path& path) {
  if (path.extension() == ".npz") return data::read_npz(path.string());
  std::vector<data::NamedArray> found;
  for (const fs::path& file : data::is_folder(path) ? data::files_in(path.string(), ".npy") : std::vector{path}) {
    found.push_back({file.stem().string(), data::read_npy(file.string())});
  }
  require(!found.empty(), "'{}' holds no .npy file", path.string());
  return found;
}

/// "64x3x3" as extents; none of an empty word.
std::vector<index_t> extents(const std::string& word) {
  std::vector<index_t> shape;
  for (const std::string& part : split_words(word, 'x')) {
    const auto value = to_number<index_t>(part);
    require(value && *value >= 1 && word.back() != 'x',
            "'{}' is not a shape; allowed: extents of 1 or more with x between them, such as 64x3x3", word);
    shape.push_back(*value);
  }
  return shape;
}

}  // namespace

GradientFile read_gradient(const std::string& path, const Layout& layout) {
  GradientFile gradient{fs::path(path).stem().string(), {}, {}};
  std::vector<data::NamedArray> found = tensors(path);
  for (data::NamedArray& tensor : found) {
    const std::string name = found.size() == 1 ? path : path + ":" + tensor.name;
    const data::NpyArray array = data::as_gradient(name, std::move(tensor.array));
    gradient.layout.add(tensor.name, array.shape);
    gradient.values.insert(gradient.values.end(), array.values.begin(), array.values.end());
  }
  if (layout.segments.empty()) return gradient;
  require(found.size() == 1, "--layout is not allowed with '{}', which holds several tensors with shapes of their own",
          path);
  require(layout.count() == gradient.layout.count(),
          "'{}' holds {} elements, but the tensors of --layout have {} in all", path, gradient.layout.count(),
          layout.count());
  gradient.layout = layout;
  return gradient;
}

Layout read_layout(const std::string& text) {
  const auto models = nn::shape_names();
  if (std::find(models.begin(), models.end(), text) != models.end()) return nn::model_shapes(text);
  require(fs::is_regular_file(data::status_of(text)),
          "--layout {}: neither a file nor a model; allowed: a text file with a line 'NAME 64x3x3' for each tensor, {}",
          text, fmt::join(models, ", "));
  Layout layout;
  std::istringstream file(data::read_text(text));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::stringstream words(line.substr(0, line.find('#')));
    std::string name, shape, order, more;
    if (!(words >> name)) continue;
    words >> shape >> order >> more;
    const std::string where = fmt::format("'{}', line {}", text, number);
    // Layout::text() would write it first, where read_text() takes it for the mark of a file.
    require(!name.starts_with("\xEF\xBB\xBF"),
            "{}: the name begins with a byte order mark; allowed: only at the front of the file", where);
    require((order.empty() || order == "outputs-first") && more.empty(),
            "{}: '{}' follows the shape; allowed: NAME 64x3x3, and after it outputs-first", where,
            more.empty() ? order : more);
    try {
      layout.add(name, extents(shape), !order.empty());
    } catch (const Error& error) {
      throw Error(where + ": " + error.what());
    }
  }
  require(!layout.segments.empty(), "'{}' holds no tensor; allowed: a line 'NAME 64x3x3' for each", text);
  return layout;
}

}  // namespace gradcomp::evaluate
