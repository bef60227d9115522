#pragma once
// strom: entries beyond a static threshold leave as one quantum +-tau (Strom, Scalable distributed DNN training using
// commodity GPU cloud computing, INTERSPEECH 2015).
//
// a = r + g; where a > tau: send +tau, where a < -tau: send -tau, r = a - sent. No statistics, but tau is in the
// gradient's own units and must be tuned by hand; the count follows the gradient's scale up to n (4 n bytes, the dense
// size). With the authors' single quantum |r| grows without bound where |g| > tau persists: quanta=multi sends
// floor(|a| / tau) of them and so leaves |r| < tau (up to rounding, and up to 65535 quanta a step). decoded + r = a
// within 1 ulp of a. The residual is needed: without feedback everything below tau is lost.
// Payload and passes: detail/sparse/quanta.hpp, one tau: 4 + 4 kept bytes (multi: 2 kept more, padded to 4).
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
Entry strom();
}
