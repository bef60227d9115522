#include "gradcomp/exchange/method_spec.hpp"

#include <utility>

#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {

std::vector<Parameter> common_parameters(const Info& info) {
  auto list = feedback_parameters(info);
  for (auto& parameter : reducer_parameters(info)) list.push_back(std::move(parameter));
  list.push_back(Parameter::word("strategy", "job", "when replicas exchange; job: the value of --strategy"));
  list.push_back(Parameter::word("sampler", "job", "how batches are drawn; job: the value of --sampler").as_added());
  list.push_back(Parameter::choice("granularity", info.granularity, {"tensor", "bucket"},
                                   "the unit that is compressed as one segment"));
  list.push_back(Parameter::real("lr", "0", 0, 1e6, "learning rate; 0: the job's rate times the method's scale"));
  return list;
}

double MethodSpec::learning_rate(double job_rate) const {
  const double own = common.real("lr");
  return own > 0 ? own : job_rate * compressor->info().learning_rate_scale;
}

ChosenPart choose_part(const MethodSpec& method, const std::string& kind,
                       const std::map<std::string, std::string>& options, const std::string& job) {
  const std::string& wanted = method.common.text(kind);
  const bool by_job = wanted == "job";
  ChosenPart chosen{by_job ? kind + " '" + job + "'" : "method '" + method.text + "'", {wanted, {}}};
  if (by_job) chosen.part = parse_spec_part(chosen.owner, job);
  for (const auto& [key, value] : options) chosen.part.options[key] = value;  // they replace the job's
  return chosen;
}

}  // namespace gradcomp
