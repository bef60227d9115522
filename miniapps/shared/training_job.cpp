#include "training_job.hpp"

#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/queued.hpp"
#include "gradcomp/comm/registry.hpp"
#include "gradcomp/comm/transports/mpi.hpp"
#include "gradcomp/data/open_task.hpp"
#include "gradcomp/measure/machine.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradcomp/nn/make_model.hpp"
#include "gradcomp/train/options_json.hpp"

using namespace gradcomp;

TrainingJob::TrainingJob(const train::Options& o, const MpiSession& session)
    : control(make_transport(o.transport, MPI_COMM_WORLD)), carrier(control->split(0, session.rank())) {
  auto options = train::to_json(o);
  options["timeout"] = o.timeout;  // not in records, since it does not change what is computed
  require_same_on_all_ranks(*control, "options", options.dump());
  const double slowed_by = o.link.empty() ? 1 : train::ranks_per_core(*control, machine_info(true));
  run_collectively(*control, [&] {
    const auto methods = parse_methods(o.method_list());
    if (!counted_interface().empty()) bytes_sent_over(counted_interface());  // throws if there is no such interface
    if (!o.link.empty()) {
      links = std::make_unique<train::EmulatedLinks>(o.link, slowed_by);
      train::check_links(o, *links);
      carrier = links->wrap(std::move(carrier), o.timeout);
    }
    contenders = train::contenders(o, methods);
    task = data::open_task(o.data, o.length);
    task->steps_per_epoch(o.shard(session.rank(), session.size()));  // throws if the set is too small
    model = nn::make_model<float>(o.model, task->shape(), static_cast<int>(o.batch));
  });
  require_same_on_all_ranks(*control, "data set", task->crc());
  control = make_limited(std::move(control), o.timeout);  // also for evaluations and for the meetings between steps
}
