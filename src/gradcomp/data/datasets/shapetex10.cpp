// Generated images (data/generated/shapetex.hpp).
#include "gradcomp/data/generated/shapetex.hpp"
#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry shapetex10() {
  const auto make = [](const data::Spec& spec) {
    const std::string colon = spec.path.empty() || spec.options.empty() ? "" : ":";
    return data::make_shapetex(data::ShapeTexOptions::parse(spec.path + colon + spec.options));
  };
  return {.name = "shapetex10",
          .usage = "shapetex10[:key=value...]",
          .place = data::DatasetEntry::Place::unchecked,
          .images = make};
}

}  // namespace gradcomp::datasets
