// WikiText-2 or -103 (Merity et al. 2017).
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/text_files.hpp"

namespace gradcomp::datasets {

data::DatasetEntry wikitext() {
  return {.name = "wikitext",
          .usage = "wikitext:DIR[:key=value...]",
          .place = data::DatasetEntry::Place::folder,
          .text =
              [](const data::Spec& spec) {
                return data::read_published(spec, "wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens");
              },
          .length = 35};
}

}  // namespace gradcomp::datasets
