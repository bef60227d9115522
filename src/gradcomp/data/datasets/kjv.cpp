// The King James Version of the Bible, as `tools/datasets kjv` writes it, with a vocabulary of 2000 words by default.
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/text_files.hpp"

namespace gradcomp::datasets {

data::DatasetEntry kjv() {
  return {.name = "kjv",
          .usage = "kjv:FILE[:key=value...]",
          .place = data::DatasetEntry::Place::file,
          .text = [](const data::Spec& spec) { return data::read_text_file(spec, "2000"); },
          .length = 32};
}

}  // namespace gradcomp::datasets
