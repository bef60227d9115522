#include "case.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t max_rounds = 5;

/// Registers a run that takes samples first .. last - 1 of a case.
void register_run(Session& session, const Case& item, index_t first, index_t last, index_t all) {
  const auto run = [&session, &item, is_last = last == all](benchmark::State& state) {
    session.last_round = is_last;
    try {
      item.body(state, report::Row(item.name));
    } catch (const std::exception& error) {
      session.failures.push_back(item.name + ": " + error.what());
      state.SkipWithError(error.what());
    }
  };
  // The number of calls is fixed, so that runs are repeatable and all samples can be kept.
  benchmark::RegisterBenchmark(item.name, run)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(last - first);
}

/// Registers the cases of one group in rounds, each in a random order of its own. The orders depend only on the seed.
std::size_t register_interleaved(Session& session, std::vector<const Case*> group, std::mt19937_64& random) {
  std::size_t runs = 0;
  for (index_t round = 0; round < max_rounds; ++round) {
    for (std::size_t i = group.size(); i > 1; --i) std::swap(group[i - 1], group[random() % i]);  // Fisher and Yates
    for (const Case* const item : group) {
      const index_t all = session.samples(item->elements);
      const index_t first = all * round / max_rounds, last = all * (round + 1) / max_rounds;
      if (first == last) continue;
      register_run(session, *item, first, last, all);
      ++runs;
    }
  }
  return runs;
}

}  // namespace

CaseTimes sample(benchmark::State& state, Session& session, const Span<const float>& gradient,
                 const std::function<void()>& before, const std::function<double()>& work) {
  CaseTimes times;
  Stopwatch watch(session.exec);
  const auto once = [&] {
    before();
    session.evict();
    watch.start();
    const double uncounted = work();
    return watch.stop() - uncounted;
  };
  const auto read = [&] {
    session.evict();
    return session.read_seconds(gradient);
  };
  once();
  read();
  for (auto _ : state) {
    const double seconds = once();
    times.work.push_back(1e3 * seconds);
    times.read.push_back(1e3 * read());
    state.SetIterationTime(seconds);
  }
  return times;
}

void finish_case(Session& session, report::Row row, const std::string& operation, const Input& input, double passes,
                 const CaseTimes& times) {
  auto& all = session.collected[row.json().at("name").get<std::string>()];
  all.work.insert(all.work.end(), times.work.begin(), times.work.end());
  all.read.insert(all.read.end(), times.read.begin(), times.read.end());
  if (!session.last_round) return;
  const double milliseconds = report::quantile(all.work, 0.5);
  const double limit = report::quantile(all.read, 0.5);
  const auto per_second = [&](double amount) {
    return milliseconds > 0 ? report::Json(1e3 * amount / milliseconds) : report::Json(nullptr);
  };
  const auto count = static_cast<double>(input.elements);
  row.set("operation", operation).set("elements", input.elements).set("data", input.data);
  row.set("cache", session.options.cache).set("verified", true);
  row.times("time_ms", "times_ms", all.work);
  row.set("elements_per_second", per_second(count));
  row.set("passes", passes > 0 ? report::Json(passes) : report::Json(nullptr));
  row.set("gb_per_second", passes > 0 ? per_second(1e-9 * passes * count * sizeof(float)) : report::Json(nullptr));
  row.set("read_limit_ms", limit).set("read_limit_ratio", limit > 0 ? milliseconds / limit : std::nan(""));
  session.rows.push_back(std::move(row));
}

void add_case(Session& session, Case item) { session.cases.push_back(std::move(item)); }

std::size_t register_cases(Session& session, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::vector<const Case*>>> groups;  // in the order of their first cases
  for (const auto& item : session.cases) {
    if (std::find(names.begin(), names.end(), item.name) == names.end()) continue;
    const bool alone = item.group.empty() || !session.options.interleave;
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return !alone && group.first == item.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {alone ? "" : item.group, {}});
    found->second.push_back(&item);
  }
  std::mt19937_64 random(session.options.seed);
  std::size_t runs = 0;
  for (const auto& [name, group] : groups) {
    if (!name.empty()) {
      runs += register_interleaved(session, group, random);
      continue;
    }
    const index_t all = session.samples(group.front()->elements);
    register_run(session, *group.front(), 0, all, all);
    ++runs;
  }
  return runs;
}

}  // namespace gradcomp::bench
