#pragma once
// strom: entries beyond a static threshold are sent as one quantum +-tau (Strom, Scalable distributed DNN training
// using commodity GPU cloud computing, INTERSPEECH 2015).
//
// a = r + g. If a > tau, +tau is sent; if a < -tau, -tau is sent; r = a - sent. The method needs no statistics, but tau
// is in units of the gradient and must be tuned by hand. The count follows the gradient's scale, up to n (4 n bytes,
// the dense size). With the authors' single quantum, |r| grows without bound while |g| > tau. quanta=multi sends
// floor(|a| / tau) quanta, which leaves |r| < tau (apart from rounding, and with at most 65535 quanta a step). decoded
// + r = a within 1 ulp (unit in the last place) of a. The residual is needed: without feedback everything below tau is
// lost.
//
// Payload and passes: detail/sparse/quanta.hpp, with one tau: 4 + 4 kept bytes (quanta=multi: 2 kept more, padded to
// 4).
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry strom();
}
