#include "gradcomp/train/gradient_dump.hpp"

#include <algorithm>

#include "gradcomp/core/atomic_file.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/formats/npy.hpp"
#include "gradcomp/feedback/seen.hpp"
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::train {
namespace {

/// With other strategies the compressor sees something else than the gradient of a step and the memory of its bucket.
void require_plain_exchange(const MethodSpec& method, const std::string& job_strategy) {
  const StrategyChoice choice = choose_strategy(method, job_strategy);
  const std::string& name = choice.entry.name;
  require(name == "overlapped" || name == "synchronous" || name == "priority",
          "method '{}': --dump-gradients is not allowed with strategy {}; allowed: overlapped, synchronous, priority",
          method.text, name);
  require(choice.own.integer("bucket_kib") == 0,
          "method '{}': --dump-gradients is not allowed with bucket_kib of a strategy; allowed: --bucket-kib",
          method.text);
}

}  // namespace

void check_dumps(const Options& options, const std::vector<MethodSpec>& methods, int rank) {
  if (options.dump_folder.empty() && options.importance_folder.empty()) return;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      require(data::file_name_part(methods[i].label) != data::file_name_part(methods[j].label),
              "--dump-gradients, --dump-importance: methods '{}' and '{}' would write the same files; give one another "
              "label=...",
              methods[j].text, methods[i].text);
    }
  }
  if (!options.dump_folder.empty()) {
    for (const MethodSpec& method : methods) require_plain_exchange(method, options.strategy_options().strategy);
  }
  for (const std::string& folder : {options.dump_folder, options.importance_folder}) {
    if (rank == 0 && !folder.empty()) data::require_writable_folder(folder);
  }
}

GradientDump::GradientDump(const Options& options, const MethodSpec& method, const Layout& layout, int rank, int ranks)
    : m_common(method.common), m_buckets(buckets_of(layout, options.strategy_options().exchange)), m_ranks(ranks) {
  if (options.dump_folder.empty() || rank != 0) return;
  m_stem = options.dump_folder + "/" + data::file_name_part(method.label);
  m_steps = options.dump_steps;
  write_atomically(options.dump_folder + "/layout.txt", layout.text());
}

bool GradientDump::wanted(index_t step) const {
  return !m_stem.empty() && std::find(m_steps.begin(), m_steps.end(), step) != m_steps.end();
}

void GradientDump::keep_memories(const Exec& exec, const Memories& memories, double rate) {
  m_before.clear();
  if (m_common.text("feedback") == "none") return;
  for (const BucketRange& range : m_buckets) {
    const auto bucket = static_cast<int>(m_before.size());
    Feedback feedback(m_common, range.count);
    for (const MemoryView& to : feedback.memories()) {
      const MemoryView* from = find(memories, to.role, bucket);
      if (from != nullptr) copy(exec, *from, to);
    }
    feedback.follow_rate(exec, rate);
    m_before.emplace_back(range, std::move(feedback));
  }
}

void GradientDump::write(const Exec& exec, const Span<const float>& gradient, index_t step) const {
  Source plain;
  plain.gradient = gradient.data();
  plain.count = static_cast<index_t>(gradient.size());
  auto values = seen_by_compressor(exec, plain);
  const std::string stem = fmt::format("{}_step{}", m_stem, step);
  data::write_npy(stem + "_gradient.npy", values);
  if (m_before.empty()) return;
  for (const auto& [range, feedback] : m_before) {
    const auto part = subspan(gradient, range.offset, range.count);
    const auto seen = seen_by_compressor(exec, feedback.source(exec, part, m_ranks));
    std::copy(seen.begin(), seen.end(), values.begin() + range.offset);
  }
  data::write_npy(stem + "_accumulated.npy", values);
}

}  // namespace gradcomp::train
