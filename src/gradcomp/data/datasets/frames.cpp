// A GCFS file (gcfs.hpp).
#include "gradcomp/data/formats/gcfs.hpp"
#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry frames() {
  return {.name = "frames",
          .usage = "frames:FILE",
          .place = data::DatasetEntry::Place::file,
          .frames = [](const data::Spec& spec) { return data::with_validation(data::read_gcfs(spec.path)); },
          .options = false};
}

}  // namespace gradcomp::datasets
