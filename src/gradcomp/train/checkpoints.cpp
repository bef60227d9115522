#include "gradcomp/train/checkpoints.hpp"

#include <fmt/ranges.h>

#include <filesystem>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/train/manifest.hpp"
#include "gradcomp/train/snapshot.hpp"

namespace gradcomp::train {
namespace {

namespace fs = std::filesystem;

std::string seed_folder(const std::string& folder, std::uint64_t seed) {
  return folder.empty() ? "" : fmt::format("{}/seed{}", folder, seed);
}

std::string file_of(const std::string& folder, int rank, index_t step) {
  return fmt::format("{}/rank{}_step{}.ckpt", folder, rank, step);
}

/// f(trainer, prefix of its arrays). Specs and labels may repeat, so the prefix is the place among the trainers; the
/// settings of the manifest tell which method is at which place.
template <class F>
void each_with_prefix(const std::vector<std::unique_ptr<Trainer>>& trainers, const F& f) {
  for (std::size_t i = 0; i < trainers.size(); ++i) f(*trainers[i], fmt::format("method{}/", i));
}

/// Whose checkpoint it is; a file keeps it under any name. The manifest says what else must be equal.
std::vector<index_t> owner(const Transport& control, std::uint64_t seed, index_t step) {
  return {control.rank(), static_cast<index_t>(seed), step};
}

/// Removes the files of this rank but `keep`: earlier ones, and those of an interrupted write.
void remove_others(const std::string& folder, int rank, const std::string& keep) {
  const std::string name = fmt::format("rank{}_step", rank);
  std::error_code error;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    const bool own = file.starts_with(name) || file.starts_with("." + name);
    if (own && entry.path() != fs::path(keep)) old.push_back(entry.path());
  }
  for (const auto& path : old) fs::remove(path, error);
}

}  // namespace

void check_checkpoints(const Options& options, int rank) {
  if (!options.resume_folder.empty()) {
    bool found = false;
    for (index_t i = 0; i < options.seeds; ++i) {
      const auto folder = seed_folder(options.resume_folder, options.seed + static_cast<std::uint64_t>(i));
      found = found || exists(data::status_of(manifest_of(folder)));
    }
    require(found, "--resume {}: there is no checkpoint of seed {}", options.resume_folder, options.seed);
  }
  if (!options.checkpoint_folder.empty() && rank == 0) data::require_writable_folder(options.checkpoint_folder);
}

Checkpoints::Checkpoints(const Options& options, report::Json settings)
    : m_resume(seed_folder(options.resume_folder, options.seed)),
      m_folder(seed_folder(options.checkpoint_folder, options.seed)),
      m_every(options.checkpoint_every),
      m_steps(options.steps),
      m_seed(options.seed),
      m_settings(std::move(settings)) {}

index_t Checkpoints::restore(const Exec& exec, Transport& control,
                             const std::vector<std::unique_ptr<Trainer>>& trainers) const {
  index_t step = 0;
  run_collectively(control, [&] {
    if (m_resume.empty() || !exists(data::status_of(manifest_of(m_resume)))) return;
    step = read_manifest(m_resume, m_settings);
    const std::string path = file_of(m_resume, control.rank(), step);
    const Snapshot snapshot = Snapshot::decode(data::read_file(path), path);
    std::vector<index_t> found;
    snapshot.get("rank, seed, step", found);
    require(found == owner(control, m_seed, step), "'{}' is the checkpoint of rank, seed and step {}; expected {}",
            path, fmt::join(found, ", "), fmt::join(owner(control, m_seed, step), ", "));
    each_with_prefix(
        trainers, [&](Trainer& trainer, const std::string& prefix) { trainer.restore(exec, snapshot, prefix, step); });
  });
  require_same_on_all_ranks(control, "checkpoint", fmt::format("step {}", step));
  if (step > 0 && m_folder == m_resume)
    remove_others(m_folder, control.rank(), file_of(m_folder, control.rank(), step));
  return step;
}

void Checkpoints::save(const Exec& exec, Transport& control, const std::vector<std::unique_ptr<Trainer>>& trainers,
                       index_t begin, index_t end) const {
  const bool due = m_every > 0 && end / m_every > begin / m_every;
  if (m_folder.empty() || !(due || end == m_steps)) return;
  const std::string path = file_of(m_folder, control.rank(), end);
  for (const auto& trainer : trainers) trainer->drain(exec);  // ranks communicate here, but not below
  run_collectively(control, [&] {
    data::require_writable_folder(m_folder);
    Snapshot snapshot;
    snapshot.put("rank, seed, step", owner(control, m_seed, end));
    each_with_prefix(trainers,
                     [&](Trainer& trainer, const std::string& prefix) { trainer.save(exec, snapshot, prefix); });
    write_atomically(path, {}, snapshot.encode());
  });
  run_collectively(control, [&] {  // now the files of all ranks are written
    if (control.rank() != 0) return;
    write_manifest(m_folder, end, m_settings);
  });
  remove_others(m_folder, control.rank(), path);
}

}  // namespace gradcomp::train
