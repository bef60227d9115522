#include "gradcomp/train/link_sweep.hpp"

#include <cmath>

namespace gradcomp::train {
namespace {

double megabits(const Link& link) { return 1e-6 * link.bits_per_second; }

report::Json answer(const Crossover& c) {
  if (c.kind == Crossover::Kind::unknown) return nullptr;
  const auto rate = [](const std::optional<double>& bits) { return report::or_null(1e-6 * bits.value_or(NAN)); };
  const bool below = c.kind == Crossover::Kind::below;
  return {{"where", below                                ? "below"
                    : c.kind == Crossover::Kind::nowhere ? "nowhere"
                                                         : "everywhere"},
          {"rate_mbit_s", below ? rate(c.bits_per_second) : nullptr},
          {"low", rate(c.low)},
          {"high", rate(c.high)}};
}

report::Json interval(const std::vector<double>& values) { return to_json(MeanInterval(values)); }

/// The mean step over a link with every seed.
std::vector<double> mean_step_ms(const std::vector<Repeat>& repeats, std::size_t index, index_t link) {
  std::vector<double> values;
  for (const Repeat& repeat : repeats) values.push_back(outcome_of(repeat.results[index], link).step_time);
  return values;
}

}  // namespace

Crossover LinkSweep::crossover(const std::vector<Repeat>& repeats, std::size_t index) const {
  if (repeats.front().results[index].contender.role() != Entrant::Role::method) return {};
  std::vector<double> rates;
  std::vector<Verdict> own;
  for (std::size_t l = 0; l < links.size(); ++l) {
    rates.push_back(links[l].bits_per_second);
    own.push_back(verdicts[l][index]);
  }
  return train::crossover(rates, own);
}

LinkSweep sweep(const std::vector<Repeat>& repeats, const std::vector<Link>& links, const Rules& rules) {
  LinkSweep all{links, {}};
  for (std::size_t l = 0; l < links.size(); ++l) {
    all.verdicts.push_back(judge(entrants(repeats, static_cast<index_t>(l)), rules));
  }
  return all;
}

void add_links(report::Row& row, const LinkSweep& sweep, const std::vector<Repeat>& repeats, std::size_t index,
               std::size_t seed) {
  report::Json list = report::Json::array();
  for (std::size_t l = 0; l < sweep.links.size(); ++l) {
    const SpeedUps& speed = sweep.verdicts[l][index].seeds[seed];
    const auto times = repeats[seed].results[index].step_ms_over(static_cast<index_t>(l));
    list.push_back({{"rate_mbit_s", megabits(sweep.links[l])},
                    {"step_time_ms", report::summary(times)},
                    {"speedup_vs_fp32", report::or_null(speed.vs_fp32)},
                    {"speedup_vs_best_dense", report::or_null(speed.vs_best_dense)}});
  }
  row.set("over_links", list);
  if (repeats.size() == 1) row.set("pays", answer(sweep.crossover(repeats, index)));
}

void add_links_over_seeds(report::Row& row, const LinkSweep& sweep, const std::vector<Repeat>& repeats,
                          std::size_t index) {
  report::Json list = report::Json::array();
  for (std::size_t l = 0; l < sweep.links.size(); ++l) {
    const Verdict& verdict = sweep.verdicts[l][index];
    list.push_back({{"rate_mbit_s", megabits(sweep.links[l])},
                    {"step_time_ms", interval(mean_step_ms(repeats, index, static_cast<index_t>(l)))},
                    {"speedup_vs_fp32", interval(verdict.over_seeds(&SpeedUps::vs_fp32))},
                    {"speedup_vs_best_dense", interval(verdict.over_seeds(&SpeedUps::vs_best_dense))}});
  }
  row.set("over_links_over_seeds", list).set("pays", answer(sweep.crossover(repeats, index)));
}

report::Table to_table(const LinkSweep& sweep, const std::vector<Repeat>& repeats) {
  std::vector<std::string> header{"method"};
  for (const Link& link : sweep.links) {
    header.push_back(Link{link.bits_per_second, 0}.text() + "\nstep ms");
    header.emplace_back("vs best\ndense");
  }
  header.emplace_back("against the\nbest dense");
  report::Table table(header);
  for (std::size_t i = 0; i < repeats.front().results.size(); ++i) {
    std::vector<std::string> cells{repeats.front().results[i].contender.spec.label};
    for (std::size_t l = 0; l < sweep.links.size(); ++l) {
      cells.push_back(MeanInterval(mean_step_ms(repeats, i, static_cast<index_t>(l))).text());
      cells.push_back(MeanInterval(sweep.verdicts[l][i].over_seeds(&SpeedUps::vs_best_dense)).text());
    }
    cells.push_back(sweep.crossover(repeats, i).text());
    table.row(cells);
  }
  return table;
}

}  // namespace gradcomp::train
