// The published binary files of CIFAR-10 (cifar.hpp).
#include "gradcomp/data/formats/cifar.hpp"
#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry cifar10() {
  return {.name = "cifar10",
          .usage = "cifar10:DIR",
          .place = data::DatasetEntry::Place::folder,
          .images = [](const data::Spec& spec) { return data::with_validation(data::read_cifar10(spec.path)); },
          .options = false};
}

}  // namespace gradcomp::datasets
