#include "gradcomp/data/open_task.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/frames_task.hpp"
#include "gradcomp/data/image_task.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/text_task.hpp"

namespace gradcomp::data {

std::unique_ptr<Task> open_task(const std::string& spec, index_t length) {
  const DatasetEntry& entry = find_dataset(spec, "data");
  if (is_text(entry)) return make_text_task(spec, length);
  if (is_frames(entry)) return make_frames_task(spec, length);
  require(length == 0, "--length {} is not allowed: data '{}' are images", length, spec);
  return std::make_unique<ImageTask>(open_dataset(spec));
}

}  // namespace gradcomp::data
