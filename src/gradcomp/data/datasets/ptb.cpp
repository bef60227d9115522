// Penn Treebank in the split of Mikolov et al. (2010).
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/text_files.hpp"

namespace gradcomp::datasets {

data::DatasetEntry ptb() {
  return {.name = "ptb",
          .usage = "ptb:DIR[:key=value...]",
          .place = data::DatasetEntry::Place::folder,
          .text =
              [](const data::Spec& spec) {
                return data::read_published(spec, "ptb.train.txt", "ptb.valid.txt", "ptb.test.txt");
              },
          .length = 35};
}

}  // namespace gradcomp::datasets
