#pragma once
// servers: parameter servers (Li et al., OSDI 2014). Every rank is a worker. The first `servers` ranks (0: all ranks)
// also hold a part of the parameters each, of about equal bytes, with the optimiser's memories of it. dedicated=on: the
// last `servers` ranks only serve. A worker pushes its compressed gradient to all servers and waits for their answers,
// the parameters of its next step. W is the number of workers.
//
//   mode=sync     servers apply the mean over all workers once all have pushed: the step of the strategy overlapped,
//                 with the sum in rank order
//   mode=async    servers apply each worker's gradient when it arrives, with rate / W, and answer at once (Recht et
//                 al., Hogwild!, NeurIPS 2011; Dean et al., NeurIPS 2012). damped=on divides this rate by
//                 max(1, staleness); staleness is the number of updates since the gradient's parameters were given out
//                 (Zhang et al., IJCAI 2016)
//   mode=bounded  as async, but a worker that is more than `bound` steps ahead of the slowest waits for its answer
//                 (stale synchronous parallel; Ho et al., NeurIPS 2013)
//
// answers=coded compresses answers too. A server knows what the worker holds and codes the change of it. The worker's
// parameters are then an estimate, and the servers' own parameters are evaluated.
//
// A gradient that is not finite becomes an empty push that still counts as a step. Servers then update nothing more and
// say so in their answers: with mode=sync all ranks learn it in the same step, otherwise each with an answer or a push.
// A server works on its rank's own thread, between the layers of forward and backward and while the rank waits.
// mode=sync gives the same bits in every run; the other modes do not.
//
// Reported bytes: what this rank pushes, and what its server answers; an answer to all workers counts once. What
// drain() moves is not counted: farewells, answers given after this worker's last step, and the parameters for an
// evaluation.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry servers();
}
