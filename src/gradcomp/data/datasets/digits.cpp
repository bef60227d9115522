// Digits in a GCDS file (gcds.hpp). Images must not be mirrored: a mirrored digit is not the same digit.
#include "gradcomp/data/formats/gcds.hpp"
#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry digits() {
  return {.name = "digits",
          .usage = "digits:FILE",
          .place = data::DatasetEntry::Place::file,
          .images =
              [](const data::Spec& spec) {
                return data::with_validation(data::in_colour(data::read_gcds(spec.path), spec.kind, false));
              },
          .options = false};
}

}  // namespace gradcomp::datasets
