#include "gradcomp/train/options_json.hpp"

namespace gradcomp::train {

report::Json to_json(const Options& o) {
  return {{"data", o.data},
          {"length", o.length},
          {"model", o.model},
          {"methods", o.method_list()},
          {"steps", o.steps},
          {"batch", o.batch},
          {"lr", o.learning_rate},
          {"optimiser", o.optimiser},
          {"momentum", o.momentum},
          {"nesterov", o.nesterov == "powersgd" ? report::Json(o.nesterov) : report::Json(o.nesterov == "on")},
          {"beta1", o.beta1},
          {"beta2", o.beta2},
          {"epsilon", o.epsilon},
          {"weight_decay", o.weight_decay},
          {"decay", o.decay},
          {"warmup", o.warmup},
          {"clip", o.clip},
          {"augment", o.augment},
          {"skew", o.skew},
          {"seed", o.seed},
          {"seeds", o.seeds},
          {"strategy", o.strategy},
          {"sampler", o.sampler},
          {"replayed_slices", !o.replay_slices.empty()},
          {"bucket_kib", o.bucket_kib > 0 ? report::Json(o.bucket_kib) : report::Json("auto")},
          {"evaluate_every", o.evaluation_interval()},
          {"block", o.block},
          {"quality_tolerance", o.quality_tolerance},
          {"target", o.target},
          {"accumulate", o.accumulate},
          {"tuned", !o.rates.empty()},
          {"resumed", !o.resume_folder.empty()},
          {"density_tolerance", o.density_tolerance},
          {"dump_steps", o.dump_steps},
          {"dump_batches", !o.batch_folder.empty()},
          {"transport", o.transport},
          {"link", o.link},
          {"straggler", o.straggler}};
}

report::Json checkpoint_settings(const Options& options, const data::Task& task,
                                 const std::vector<Contender>& contenders, int ranks, const std::string& cut) {
  report::Json settings = to_json(options);
  // A resumed run may choose anew how results are judged, and the number of seeds.
  for (const char* key : {"quality_tolerance", "density_tolerance", "dump_steps", "dump_batches", "resumed", "tuned",
                          "seeds", "replayed_slices"}) {
    settings.erase(key);
  }
  settings["data"] = task.name();
  settings["data_crc"] = task.crc();
  settings["ranks"] = ranks;
  settings["cut"] = cut;
  settings["methods"] = report::Json::array();
  for (const Contender& c : contenders) {
    settings["methods"].push_back({{"method", c.spec.canonical},
                                   {"lr", c.learning_rate},
                                   {"bucket_kib", c.bucket_kib ? report::Json(*c.bucket_kib) : report::Json("job")}});
  }
  return settings;
}

report::Json rate_settings(const Options& options, const data::Task& task, int ranks) {
  report::Json settings = to_json(options), chosen = report::Json::object();
  for (const char* key : {"length", "model", "optimiser", "beta1", "beta2", "epsilon", "momentum", "nesterov",
                          "weight_decay", "decay", "clip", "augment", "skew"}) {
    chosen[key] = settings[key];
  }
  if (options.sampler != Options().sampler) chosen["sampler"] = options.sampler;  // files of rates are older
  chosen["data"] = task.name();
  chosen["data_crc"] = task.crc();
  chosen["batch_of_all_ranks"] = options.batch * ranks;
  return chosen;
}

}  // namespace gradcomp::train
