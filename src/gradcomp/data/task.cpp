#include "gradcomp/data/task.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"
#include "gradcomp/data/frames.hpp"
#include "gradcomp/data/frames_task.hpp"
#include "gradcomp/data/image_task.hpp"
#include "gradcomp/data/spec.hpp"
#include "gradcomp/data/text.hpp"
#include "gradcomp/data/text_task.hpp"

namespace gradcomp::data {
namespace {

const std::vector<std::string> kinds = {"shapetex10", "cifar10", "cifar100", "digits", "gcds",   "packed",  "ptb",
                                        "wikitext",   "text",    "kjv",      "hmm",    "frames", "keywords"};

}  // namespace

std::unique_ptr<Task> open_task(const std::string& spec, index_t length) {
  if (names_text(spec)) return make_text_task(spec, length);
  if (names_frames(spec)) return make_frames_task(spec, length);
  require(names_images(spec), "unknown data '{}'; {}allowed: {}, {}, {}", spec,
          did_you_mean(split_spec(spec).kind, kinds), image_specs, text_specs, frames_specs);
  require(length == 0, "--length {} is not allowed: data '{}' are images", length, spec);
  return std::make_unique<ImageTask>(open_dataset(spec));
}

}  // namespace gradcomp::data
