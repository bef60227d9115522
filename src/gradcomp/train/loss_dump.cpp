#include "gradcomp/train/loss_dump.hpp"

#include <algorithm>

#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npy.hpp"

namespace gradcomp::train {
namespace {

constexpr index_t slice = 32;

}  // namespace

LossDump::LossDump(const Job& job, const MethodSpec& method) {
  if (job.options.importance_folder.empty() || job.control.rank() != 0) return;
  m_stem = job.options.importance_folder + "/" + data::file_name_part(method.label);
  m_steps = job.options.dump_steps;
  m_samples = job.task.samples(job.shard());
  m_pass = std::make_unique<ImportancePass>(job, slice);
}

bool LossDump::wanted(index_t step) const {
  return m_pass && std::find(m_steps.begin(), m_steps.end(), step) != m_steps.end();
}

void LossDump::write(const Exec& exec, const Span<const float>& parameters, const Span<const float>& buffers,
                     index_t step) {
  std::vector<float> losses(m_samples.size());
  m_pass->keep(exec, parameters, buffers);
  for (std::size_t first = 0; first < losses.size(); first += slice) {
    const std::size_t count = std::min<std::size_t>(slice, losses.size() - first);
    m_pass->evaluate(exec, std::span(m_samples).subspan(first, count), std::span(losses).subspan(first, count));
  }
  data::write_npy(fmt::format("{}_step{}_losses.npy", m_stem, step), losses);
}

}  // namespace gradcomp::train
