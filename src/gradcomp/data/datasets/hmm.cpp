// Generated texts: the words of a hidden Markov model (data/generated/hmm.hpp).
#include "gradcomp/data/generated/hmm.hpp"

#include <fmt/format.h>

#include <memory>

#include "gradcomp/data/registry.hpp"

namespace gradcomp::datasets {
namespace {

data::TextData make(const data::Spec& spec) {
  const auto options = data::HmmOptions::from(data::split_pairs(spec.kind, spec.options));
  const auto hmm = std::make_shared<data::Hmm>(options);
  data::TextData text;
  text.name = options.canonical();
  text.train = hmm->draw(data::Split::train, options.tokens);
  text.validation = hmm->draw(data::Split::validation, options.validation);
  text.test = hmm->draw(data::Split::test, options.test);
  for (index_t w = 0; w < options.vocabulary; ++w) text.vocabulary.push_back(fmt::format("w{}", w));
  text.cross_entropy = [hmm](std::span<const std::int32_t> of) { return hmm->cross_entropy(of); };
  return text;
}

}  // namespace

data::DatasetEntry hmm() {
  return {.name = "hmm",
          .usage = "hmm[:key=value...]",
          .place = data::DatasetEntry::Place::nothing,
          .text = make,
          .length = 32};
}

}  // namespace gradcomp::datasets
