// Generated recordings of spoken words (data/generated/keywords.hpp).
#include "gradcomp/data/generated/keywords.hpp"

#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {

data::DatasetEntry keywords() {
  return {.name = "keywords",
          .usage = "keywords[:key=value...]",
          .place = data::DatasetEntry::Place::nothing,
          .frames = [](const data::Spec& spec) {
            return data::make_keywords(data::KeywordOptions::from(data::split_pairs(spec.kind, spec.options)));
          }};
}

}  // namespace gradcomp::datasets
