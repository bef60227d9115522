#pragma once
// servers: parameter servers (Li et al., OSDI 2014). Every rank is a worker; the first `servers` ranks (0: all of them)
// also hold a part of the parameters each, of about equal bytes, with the optimiser's memory of it. A worker pushes its
// compressed gradient to all servers and waits for their answers, the parameters of its next step:
//
//   mode=sync     servers apply the mean over all workers once all have pushed: the overlapped strategy's step, added
//                 up in rank order
//   mode=async    servers apply each worker's gradient as it comes, with rate / W, and answer at once (Recht et al.,
//                 Hogwild!, NeurIPS 2011; Dean et al., NeurIPS 2012). damped=on: with that / max(1, staleness), the
//                 updates since the gradient's parameters were given out (Zhang et al., IJCAI 2016)
//   mode=bounded  as async, but a worker that is more than `bound` steps ahead of the slowest waits for its answer
//                 (stale synchronous parallel; Ho et al., NeurIPS 2013)
//
// answers=coded compresses them too: a server codes the change of what it knows the worker to hold, which is then an
// estimate; the servers' own parameters are evaluated.
//
// A gradient that is not finite is an empty push that still counts as a step: with mode=sync all ranks leave the step
// out, otherwise its own rank alone. All work of a server is done by its rank's own thread, between the layers of
// forward and backward and while it waits. mode=sync is bit for bit the same in every run, the others are not.
//
// Bytes that are reported: what this rank pushes, and what its server answers, an answer to all workers once.
// What drain() moves is not counted: farewells, answers given after this worker's last step, the parameters for an
// evaluation.
#include "gradcomp/strategy/strategy.hpp"

namespace gradcomp::strategies {
StrategyEntry servers();
}
