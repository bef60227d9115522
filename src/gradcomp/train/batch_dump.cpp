#include "gradcomp/train/batch_dump.hpp"

#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/sampling/batch_sampler.hpp"

namespace gradcomp::train {
namespace {

std::string folder_of_rank(const Options& options, int rank) {
  return fmt::format("{}/rank{}", options.batch_folder, rank);
}

template <class T>
void append(const Exec& exec, std::vector<float>& all, const Span<const T>& more) {
  for (const T value : to_host(exec, more)) all.push_back(static_cast<float>(value));
}

}  // namespace

void ModelDump::add(const Exec& exec, const nn::Batch<float>& batch) {
  append(exec, features, batch.features);
  append(exec, labels, batch.labels);
  append(exec, tokens, batch.tokens);
}

void ModelDump::write(const std::string& folder, const report::Json& more) const {
  data::write_npy(folder + "/parameters.npy", parameters);
  data::write_npy(folder + "/features.npy", features);
  data::write_npy(folder + "/labels.npy", labels);
  data::write_npy(folder + "/tokens.npy", tokens);
  report::Json tensors = report::Json::array();
  for (const Segment& segment : layout.segments) {
    tensors.push_back({{"name", segment.name}, {"offset", segment.offset}, {"shape", segment.shape}});
  }
  report::Json document = {{"model", model},       {"samples", samples},           {"height", input.height},
                           {"width", input.width}, {"length", input.length},       {"classes", input.classes},
                           {"losses", losses},     {"tensors", std::move(tensors)}};
  document.update(more);
  write_atomically(folder + "/model.json", document.dump(1) + "\n");
}

void check_batch_dump(const Options& options, const std::vector<MethodSpec>& methods, int rank) {
  if (options.batch_folder.empty()) return;
  const std::string sampler = choose_sampler(methods.front(), options.sampler).entry.name;
  require(sampler == "uniform", "method '{}': --dump-batches is not allowed with sampler {}; allowed: uniform",
          methods.front().text, sampler);
  data::require_writable_folder(folder_of_rank(options, rank));
}

BatchDump::BatchDump(const Exec& exec, const Job& job, const Span<const float>& parameters)
    : m_folder(folder_of_rank(job.options, job.control.rank())) {
  const Options& o = job.options;
  m_dump.model = job.model.name();
  m_dump.samples = o.batch;
  m_dump.input = job.task.shape();
  m_dump.layout = job.model.layout();
  m_dump.parameters = to_host(exec, parameters);
  m_update = {{"ranks", job.control.size()}, {"optimiser", o.optimiser}, {"momentum", o.momentum},
              {"nesterov", o.nesterov},      {"beta1", o.beta1},         {"beta2", o.beta2},
              {"epsilon", o.epsilon},        {"clip", o.clip},           {"weight_decay", o.weight_decay}};
}

void BatchDump::write(const std::string& label, std::span<const double> rates) const {
  report::Json more = m_update;
  more["method"] = label;
  more["steps"] = m_dump.losses.size();
  more["rates"] = std::vector<double>(rates.begin(), rates.end());
  m_dump.write(m_folder, more);
}

}  // namespace gradcomp::train
