#pragma once
// An emulated link: every call takes at least latency x steps + bytes / rate of the algorithm in volume.hpp. Always
// named "emulated": it is a model of a slow link between equal ranks, not a measurement of one.
//
// A collective starts when its last rank arrives (a barrier agrees on that), and lasts on every rank as long as the
// busiest rank's share needs, so that all leave together. A send occupies its sender; receives and probes wait for the
// message. Not modelled: messages that meet at one receiver, and concurrent calls, which each get the whole link.
// Waiting sleeps: the core stays free for the computation that the exchange overlaps with.
#include <memory>
#include <string>

#include "gradcomp/comm/communicator.hpp"

namespace gradcomp {

struct Link {
  double bits_per_second = 0;
  double latency_seconds = 0;

  double seconds(index_t bytes, int steps) const {
    return latency_seconds * steps + 8.0 * static_cast<double>(bytes) / bits_per_second;
  }
  std::string text() const;  ///< "100Mbit/s,50us", which parse_link() takes
};

/// "RATE[,LATENCY]": RATE in bit/s, kbit/s, Mbit/s or Gbit/s, LATENCY in us or ms, as 1Gbit/s,50us. Throws Error that
/// lists what is allowed.
Link parse_link(const std::string& text);

/// name(): "emulated(100Mbit/s,50us)/<inner>".
std::unique_ptr<Communicator> make_throttled(std::unique_ptr<Communicator> inner, const Link& link);

}  // namespace gradcomp
