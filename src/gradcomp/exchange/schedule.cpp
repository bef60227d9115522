#include "gradcomp/exchange/schedule.hpp"

#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/exchange/overlapped.hpp"
#include "gradcomp/exchange/synchronous.hpp"

namespace gradcomp {
namespace {

struct ScheduleEntry {
  const char* name;
  std::unique_ptr<Schedule> (*make)(const MethodSpec&, const Layout&, std::unique_ptr<Communicator>,
                                    const ScheduleOptions&);
};
constexpr std::array<ScheduleEntry, 2> schedules = {{
    {"overlapped", make_overlapped},
    {"synchronous", make_synchronous},
}};

const ScheduleEntry& find_schedule(const std::string& name) {
  for (const auto& entry : schedules) {
    if (name == entry.name) return entry;
  }
  throw Error(fmt::format("unknown schedule '{}'; allowed: {}", name, fmt::join(schedule_names(), ", ")));
}

/// Names, shapes and order of the tensors in one line.
std::string describe(const Layout& layout) {
  std::string all;
  for (const auto& segment : layout.segments) all += fmt::format("{}:{}:{};", segment.id, segment.name, segment.shape);
  return fmt::format("{} tensors, {} elements, hash {:08x}", layout.segments.size(), layout.count(),
                     text_hash(all.c_str()));
}

}  // namespace

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const auto& entry : schedules) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Schedule> make_schedule(const MethodSpec& method, const Layout& layout, Communicator& comm,
                                        const ScheduleOptions& options) {
  const std::string wanted = method.common.text("schedule");
  const std::string& name = wanted == "job" ? options.schedule : wanted;
  require_same_on_all_ranks(comm, "method", method.canonical);
  require_same_on_all_ranks(comm, "model's layout", describe(layout));
  require_same_on_all_ranks(
      comm, "schedule",
      fmt::format("{}, buckets of {} bytes, seed {}, {} ranks", name, options.bucket_bytes, options.seed, comm.size()));
  auto own = comm.split(0, comm.rank());
  std::unique_ptr<Schedule> schedule;
  run_collectively(comm, [&] { schedule = find_schedule(name).make(method, layout, std::move(own), options); });
  return schedule;
}

}  // namespace gradcomp
