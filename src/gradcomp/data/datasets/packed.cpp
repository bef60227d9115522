// Photographs in a GCDS file, or in a folder of such files with an index (packed.hpp).
#include "gradcomp/data/formats/packed.hpp"

#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry packed() {
  return {.name = "packed",
          .usage = "packed:PATH",
          .place = data::DatasetEntry::Place::file,
          .images =
              [](const data::Spec& spec) {
                return data::with_validation(data::in_colour(data::read_packed(spec.path), spec.kind, true));
              },
          .options = false};
}

}  // namespace gradcomp::datasets
