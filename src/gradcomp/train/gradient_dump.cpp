#include "gradcomp/train/gradient_dump.hpp"

#include <algorithm>

#include "gradcomp/data/files.hpp"
#include "gradcomp/data/npy.hpp"

namespace gradcomp::train {
namespace {

void to_host(const Exec& exec, const float* device, std::size_t count, float* host) {
  Kokkos::deep_copy(exec, HostSpan<float>(host, count), Span<const float>(device, count));
  exec.fence("gradcomp::train::gradient_dump");
}

}  // namespace

void check_dumps(const Options& options, const std::vector<MethodSpec>& methods, int rank) {
  if (options.dump_folder.empty()) return;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      require(data::file_name_part(methods[i].label) != data::file_name_part(methods[j].label),
              "--dump-gradients: methods '{}' and '{}' would write the same files; give one another label=...",
              methods[j].text, methods[i].text);
    }
  }
  if (rank == 0) data::require_writable_folder(options.dump_folder);
}

GradientDump::GradientDump(const Options& options, const MethodSpec& method, int rank) {
  if (options.dump_folder.empty() || rank != 0) return;
  m_stem = options.dump_folder + "/" + data::file_name_part(method.label);
  m_steps = options.dump_steps;
  m_has_residual = method.common.text("feedback") == "residual";
  m_beta = static_cast<float>(method.common.real("feedback.beta"));
  m_gamma = static_cast<float>(method.common.real("feedback.gamma"));
}

bool GradientDump::wanted(index_t step) const {
  return !m_stem.empty() && std::find(m_steps.begin(), m_steps.end(), step) != m_steps.end();
}

void GradientDump::keep_memories(const Exec& exec, Schedule& schedule, std::size_t count) {
  if (!m_has_residual) return;
  m_residual.assign(count, 0.0F);
  const auto buckets = schedule.buckets();
  for (const StateView& view : schedule.persistent()) {
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      if (view.name != fmt::format("bucket{}/residual", b)) continue;
      to_host(exec, static_cast<const float*>(view.data), static_cast<std::size_t>(buckets[b].count),
              m_residual.data() + buckets[b].offset);
    }
  }
}

void GradientDump::write(const Exec& exec, const Span<const float>& gradient, index_t step) const {
  std::vector<float> values(gradient.size());
  to_host(exec, gradient.data(), values.size(), values.data());
  const std::string stem = fmt::format("{}_step{}", m_stem, step);
  data::write_npy(stem + "_gradient.npy", values);
  if (!m_has_residual) return;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = m_beta * m_residual[i] + m_gamma * values[i];
  data::write_npy(stem + "_accumulated.npy", values);
}

}  // namespace gradcomp::train
