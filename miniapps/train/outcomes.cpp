#include "outcomes.hpp"

#include <fmt/format.h>

#include "gradcomp/train/bucket_sweep.hpp"

using namespace gradcomp;

namespace {

/// Contender::bucket_sweep, which is the same one for all controls.
std::string swept_elsewhere(const std::vector<train::MethodResult>& results) {
  for (const train::MethodResult& r : results) {
    if (!r.contender.bucket_sweep.empty()) return r.contender.bucket_sweep;
  }
  return "";
}

}  // namespace

Outcomes::Outcomes(std::vector<train::Repeat> repeats, const data::Task& task, const train::Options& options,
                   const train::EmulatedLinks* links)
    : m_repeats(std::move(repeats)),
      m_options(options),
      m_data(task.name()),
      m_rules{train::Metric(task.shape().kind), options.quality_tolerance, task.trivial(), !options.target.empty(),
              train::buckets_swept(m_repeats.front().results)} {
  const auto entrants = train::entrants(m_repeats);
  m_no_reference = train::no_reference(entrants, m_rules);
  m_verdicts = train::judge(entrants, m_rules);
  if (links == nullptr || links->count() == 1) return;
  m_sweep = train::sweep(m_repeats, links->links(), m_rules);
  for (auto& verdict : m_verdicts) verdict.seeds.assign(m_repeats.size(), {});
}

std::vector<train::SpeedUps> Outcomes::speeds(std::size_t seed) const {
  std::vector<train::SpeedUps> all;
  for (const auto& verdict : m_verdicts) all.push_back(verdict.seeds[seed]);
  return all;
}

void Outcomes::add_rows(report::ResultFile& file) const {
  for (std::size_t s = 0; s < m_repeats.size(); ++s) {
    train::Options options = m_options;
    options.seed = m_repeats[s].seed;
    for (std::size_t i = 0; i < m_verdicts.size(); ++i) {
      const train::Verdict& verdict = m_verdicts[i];
      report::Row row =
          train::to_row(m_repeats[s].results[i], verdict.quality_matched, verdict.seeds[s], options, m_data);
      if (!m_sweep.links.empty()) train::add_links(row, m_sweep, m_repeats, i, s);
      file.add(row);
    }
  }
  for (std::size_t i = 0; i < m_verdicts.size() && m_repeats.size() > 1; ++i) {
    report::Row row = train::to_row(m_repeats, m_verdicts, i, m_options, m_data);
    if (!m_sweep.links.empty()) train::add_links_over_seeds(row, m_sweep, m_repeats, i);
    file.add(row);
  }
}

void Outcomes::print() const {
  for (std::size_t s = 0; s < m_repeats.size(); ++s) {
    if (m_repeats.size() > 1) fmt::print("\nseed {}\n", m_repeats[s].seed);
    train::to_table(m_repeats[s].results, speeds(s)).print();
    if (m_options.target.empty()) continue;
    fmt::print("\nto {}, as the evaluations saw it\n", m_options.target);
    train::to_target_table(m_repeats[s].results, speeds(s)).print();
  }
  if (m_repeats.size() > 1) {
    fmt::print("\n");
    train::to_table(m_repeats, m_verdicts).print();
  }
  if (!m_sweep.links.empty()) {
    fmt::print("\nover each link\n");
    train::to_table(m_sweep, m_repeats).print();
  }
  if (!m_no_reference.empty()) {
    fmt::print("No speed-ups: {}.\n", m_no_reference);
  } else {
    fmt::print("Speed-ups only where {}{}{}.\n", m_rules.metric.rule(m_options.quality_tolerance),
               m_repeats.size() > 1 ? ", as the interval of its mean over seeds says" : "",
               m_options.target.empty() ? "" : ", and the target was reached");
    if (!train::takes_bucket_size(m_options)) {
      fmt::print("None against the best dense control: --strategy {} takes no bucket size from --rates or a sweep.\n",
                 m_options.strategy);
    } else if (!m_rules.buckets_swept) {
      fmt::print("None against the best dense control: that needs fp32, fp16, bf16, and --rates or --sweep-buckets.\n");
    } else if (const std::string elsewhere = swept_elsewhere(m_repeats.front().results); !elsewhere.empty()) {
      fmt::print("Bucket sizes of the dense controls were timed elsewhere ({}); others may be faster here.\n",
                 elsewhere);
    }
  }
  fmt::print("'no_exchange' is a bound of the step time.\n");
}
