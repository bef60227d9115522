// Any other GCDS file (gcds.hpp). Nothing is known about its images, so they are not mirrored.
#include "gradcomp/data/formats/gcds.hpp"

#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry gcds() {
  return {.name = "gcds",
          .usage = "gcds:FILE",
          .place = data::DatasetEntry::Place::file,
          .images =
              [](const data::Spec& spec) {
                return data::with_validation(data::in_colour(data::read_gcds(spec.path), spec.kind, false));
              },
          .options = false};
}

}  // namespace gradcomp::datasets
