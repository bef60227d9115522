// Any text in UTF-8. Its end is the test text, and the part before the test text is the validation text.
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/text_files.hpp"

namespace gradcomp::datasets {

data::DatasetEntry text() {
  return {.name = "text",
          .usage = "text:FILE[:key=value...]",
          .place = data::DatasetEntry::Place::file,
          .text = [](const data::Spec& spec) { return data::read_text_file(spec, "10000"); },
          .length = 32};
}

}  // namespace gradcomp::datasets
