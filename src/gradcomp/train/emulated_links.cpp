#include "gradcomp/train/emulated_links.hpp"

#include <algorithm>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/over_ranks.hpp"

namespace gradcomp::train {

EmulatedLinks::EmulatedLinks(const std::string& text, double slowed_by)
    : m_links(parse_links(text)), m_slowed_by(slowed_by), m_current(std::make_shared<Link>()) {
  choose(0);
}

std::unique_ptr<Transport> EmulatedLinks::wrap(std::unique_ptr<Transport> inner, double limit_seconds) const {
  return make_throttled(std::move(inner), std::shared_ptr<const Link>(m_current), limit_seconds);
}

index_t EmulatedLinks::choose(index_t block) {
  const index_t number = block % count();
  *m_current = slowed(m_links[static_cast<std::size_t>(number)], m_slowed_by);
  return number;
}

void check_links(const Options& options, const EmulatedLinks& links) {
  const index_t turn = options.block * links.count();
  require(
      links.count() == 1 || options.steps % turn == 0,
      "--steps {3} is not allowed with the {1} links of --link {0}; allowed: multiples of {2} (--block times links)",
      options.link, links.count(), turn, options.steps);
  require(links.count() == 1 || options.target.empty(),
          "--target is not allowed with the several links of --link {}: the time to a target would mix them",
          options.link);
}

report::LinkInfo link_info(const EmulatedLinks& links) {
  const bool one = links.count() == 1;
  std::string text;
  for (const Link& link : links.links()) {
    if (!text.empty()) text += ",";
    text += Link{link.bits_per_second, 0}.text();
  }
  const double latency = links.links().front().latency_seconds;
  return {"emulated", one ? links.links().front().text() : text, one ? 1e-6 * links.links().front().bits_per_second : 0,
          1e6 * latency, links.slowed_by()};
}

double threads_per_core(index_t ranks, int threads, int cores) {
  return std::max(1.0, static_cast<double>(ranks * threads) / std::max(1, cores));
}

double ranks_per_core(Transport& control, const Machine& machine) {
  if (!device_is_host) return 1;
  const auto hosts = gather_texts(control, machine.host_name);
  const index_t ranks = std::count(hosts.begin(), hosts.end(), machine.host_name);
  return max_over_ranks(control, {threads_per_core(ranks, machine.threads, machine.cores_online)})[0];
}

}  // namespace gradcomp::train
