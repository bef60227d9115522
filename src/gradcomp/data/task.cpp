#include "gradcomp/data/task.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/image_task.hpp"

namespace gradcomp::data {

std::unique_ptr<Task> open_task(const std::string& spec, index_t length) {
  auto images = std::make_unique<ImageTask>(open_dataset(spec));
  require(length == 0, "--length {} is not allowed: data '{}' are no sequences", length, spec);
  return images;
}

}  // namespace gradcomp::data
