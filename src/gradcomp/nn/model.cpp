#include "gradcomp/nn/model.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/resnet.hpp"

namespace gradcomp::nn {
namespace {

struct Entry {
  const char* name;
  int blocks;  ///< residual blocks of each stage: depth = 6 blocks + 2
};

constexpr Entry entries[] = {{"resnet8", 1}, {"resnet20", 3}, {"resnet32", 5}, {"resnet44", 7}, {"resnet56", 9}};

}  // namespace

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  correct += other.correct;
  count += other.count;
  return *this;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.emplace_back(entry.name);
  return names;
}

template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, int height, int width, int max_batch, int classes,
                                     Path path) {
  std::string known;
  for (const Entry& entry : entries) {
    if (name == entry.name) {
      return std::make_unique<ResNet<T>>(name, entry.blocks, height, width, max_batch, classes, path);
    }
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(fmt::format("unknown model '{}': allowed are {}", name, known));
}

template std::unique_ptr<Model<float>> make_model(const std::string&, int, int, int, int, Path);
template std::unique_ptr<Model<double>> make_model(const std::string&, int, int, int, int, Path);

}  // namespace gradcomp::nn
