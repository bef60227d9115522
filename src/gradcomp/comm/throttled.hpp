#pragma once
// An emulated link: every call takes at least latency x steps + bytes / rate, for the faster of the algorithms in
// volume.hpp at its size. Its name always says "emulated": it is a model of a slow link between equal ranks, and not a
// measurement of a real one.
//
// All outstanding calls share one link: each direction of a rank is busy with one of them at a time. A collective call
// begins when the last rank has started it and the previous collective call has ended. On every rank it lasts as long
// as the share of the busiest rank needs, so that all ranks leave together. A message leaves when the sender's
// direction is free, and occupies the receiver's direction when it arrives.
//
// The network card of the model needs no core: start() only notes the time, and a thread that waits for a collective
// call carries out the calls up to it, in the order of their starts. A call ends at a deadline, until which wait()
// yields its core. So all cores are free for the computation that hides the exchange.
#include <memory>
#include <string>
#include <vector>

#include "gradcomp/comm/transport.hpp"
#include "gradcomp/comm/volume.hpp"

namespace gradcomp {

struct Link {
  double bits_per_second = 0;
  double latency_seconds = 0;

  double seconds(index_t bytes, int steps) const {
    return latency_seconds * steps + 8.0 * static_cast<double>(bytes) / bits_per_second;
  }
  std::string text() const;  ///< such as "100Mbit/s,50us"; parse_link() reads it
};

/// Parses "RATE[,LATENCY]" with RATE in bit/s, kbit/s, Mbit/s or Gbit/s and LATENCY in us or ms, such as 1Gbit/s,50us.
/// Throws Error that lists what is allowed.
Link parse_link(const std::string& text);

/// Parses "RATE,...[,LATENCY]": links of several rates and one latency, such as 100Mbit/s,1Gbit/s,50us. Throws Error
/// that lists what is allowed, also for a rate that is given twice.
std::vector<Link> parse_links(const std::string& text);

/// The link slowed down by `factor`, for a computation that takes `factor` times as long as on a machine of its own.
Link slowed(const Link& link, double factor);

namespace comm {

/// What a call costs over an emulated link: the volume of the faster of its two algorithms, fewest_steps() or volume(),
/// with their parameters. If both take equally long, it is volume().
Volume faster_volume(const Link& link, const Call& call, const Found& found, int rank, int ranks);

}  // namespace comm

/// name(): "emulated(100Mbit/s,50us)/<inner>". Throws Error if `inner` overlaps by itself. A split shares the link.
/// A Send starts from a second thread; if `inner` is not concurrent(), it throws Error.
/// test() carries out a collective call that may have ended by then, and so waits for ranks that have not reached the
/// call. The destructor first carries out all calls, unless abandon() was called. `limit_seconds`: see make_limited();
/// it is for calls of `inner`.
std::unique_ptr<Transport> make_throttled(std::unique_ptr<Transport> inner, const Link& link, double limit_seconds = 0);

/// The same over a link that the caller may change, in the same way on all ranks, while no call is in progress.
std::unique_ptr<Transport> make_throttled(std::unique_ptr<Transport> inner, std::shared_ptr<const Link> link,
                                          double limit_seconds = 0);

}  // namespace gradcomp
