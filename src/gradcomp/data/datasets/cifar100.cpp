// The published binary files of CIFAR-100 (cifar.hpp), with its 100 fine or 20 coarse labels.
#include "gradcomp/core/options.hpp"
#include "gradcomp/data/formats/cifar.hpp"
#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry cifar100() {
  const auto read = [](const data::Spec& spec) {
    const ParameterValues given(spec.kind,
                                {Parameter::choice("labels", "fine", {"fine", "coarse"},
                                                   "fine: 100 labels; coarse: "
                                                   "20 labels")},
                                data::split_pairs(spec.kind, spec.options));
    return data::with_validation(data::read_cifar100(spec.path, given.text("labels") == "coarse"));
  };
  return {.name = "cifar100",
          .usage = "cifar100:DIR[:labels=fine|coarse]",
          .place = data::DatasetEntry::Place::folder,
          .images = read};
}

}  // namespace gradcomp::datasets
