#include "gradcomp/sampling/reshard.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "gradcomp/core/copies.hpp"
#include "gradcomp/sampling/draw.hpp"
#include "gradcomp/sampling/swaps.hpp"

namespace gradcomp::sampling {
namespace {

static_assert(sizeof(Offer) == 16, "ranks exchange offers byte by byte");

/// What a rank tells all other ranks.
struct Head {
  double sum = 0;
  index_t high = 0, low = 0;  ///< offers that follow
};

/// Sum of the losses. A loss that is unknown or not finite counts as the mean of the others.
double sum_of(const std::vector<float>& losses) {
  const double mean = mean_of_finite(losses);
  return std::isnan(mean) ? 0 : mean * static_cast<double>(losses.size());
}

template <class T>
void append(std::vector<std::byte>& bytes, const T* data, std::size_t count) {
  const auto* from = reinterpret_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
}

/// Exchanges sums and offers between all ranks; returns them in the order of the ranks.
std::pair<std::vector<double>, std::vector<Offers>> tell(Transport& transport, const Exec& exec, double sum,
                                                         const Offers& own, index_t max_swaps) {
  std::vector<std::byte> text;
  const Head head{sum, std::ssize(own.high), std::ssize(own.low)};
  append(text, &head, 1);
  append(text, own.high.data(), own.high.size());
  append(text, own.low.data(), own.low.size());
  const auto largest = static_cast<index_t>(sizeof(Head)) + 2 * max_swaps * static_cast<index_t>(sizeof(Offer));
  const index_t capacity = aligned(largest) * transport.size();
  const Vector<std::byte> send = upload("gradcomp::sampling::send", text),
                          all("gradcomp::sampling::offers", static_cast<std::size_t>(capacity));
  const Blocks blocks = run(transport, exec, AllGatherV{send.data(), std::ssize(text), all.data(), capacity}).blocks;
  const std::vector<std::byte> host = to_host(exec, all);
  std::pair<std::vector<double>, std::vector<Offers>> told;
  for (const index_t offset : blocks.offset) {
    const std::byte* from = host.data() + offset;
    Head theirs;
    std::memcpy(&theirs, from, sizeof theirs);
    Offers offers{std::vector<Offer>(static_cast<std::size_t>(theirs.high)),
                  std::vector<Offer>(static_cast<std::size_t>(theirs.low))};
    from += sizeof theirs;
    std::memcpy(offers.high.data(), from, offers.high.size() * sizeof(Offer));
    from += offers.high.size() * sizeof(Offer);
    std::memcpy(offers.low.data(), from, offers.low.size() * sizeof(Offer));
    told.first.push_back(theirs.sum);
    told.second.push_back(std::move(offers));
  }
  return told;
}

}  // namespace

Resharder::Resharder(Transport& transport, double tolerance, index_t max_swaps)
    : m_transport(make_counting(transport.split(0, transport.rank()))), m_tolerance(tolerance), m_max(max_swaps) {}

Resharded Resharder::swap(const Exec& exec, std::vector<index_t>& samples, std::vector<float>& losses) {
  const int rank = m_transport->rank(), ranks = m_transport->size();
  const index_t sent_before = m_transport->ledger().total().sent;
  const auto [sums, offers] = tell(*m_transport, exec, sum_of(losses), offers_of(samples, losses, m_max, rank), m_max);
  std::vector<std::vector<Offer>> leaves(static_cast<std::size_t>(ranks));
  std::map<index_t, std::size_t> place;  // of samples of this rank
  for (std::size_t i = 0; i < samples.size(); ++i) place[samples[i]] = i;
  std::vector<std::size_t> freed;
  for (const Swap& swap : plan_swaps(sums, offers, m_tolerance, m_max)) {
    for (const auto& [goes, comes] : {std::pair(swap.up, swap.down), std::pair(swap.down, swap.up)}) {
      if (goes.rank != rank) continue;
      leaves[static_cast<std::size_t>(comes.rank)].push_back(goes);
      freed.push_back(place.at(goes.sample));
    }
  }
  Blocks parts;
  std::vector<std::byte> bytes;
  for (const auto& part : leaves) {
    parts.offset.push_back(std::ssize(bytes));
    parts.size.push_back(std::ssize(part) * static_cast<index_t>(sizeof(Offer)));
    append(bytes, part.data(), part.size());
    bytes.resize(static_cast<std::size_t>(aligned(std::ssize(bytes))));
  }
  const index_t capacity = (aligned(m_max * static_cast<index_t>(sizeof(Offer))) + block_alignment) * ranks;
  const Vector<std::byte> send = upload("gradcomp::sampling::send", bytes),
                          receive("gradcomp::sampling::receive", static_cast<std::size_t>(capacity));
  const Blocks came = run(*m_transport, exec, AllToAllV{send.data(), &parts, receive.data(), capacity}).blocks;
  const std::vector<std::byte> host = to_host(exec, receive);
  std::sort(freed.begin(), freed.end());
  std::size_t next = 0;
  for (std::size_t r = 0; r < came.size.size(); ++r) {
    for (index_t at = 0; at < came.size[r]; at += static_cast<index_t>(sizeof(Offer))) {
      Offer offer;
      std::memcpy(&offer, host.data() + came.offset[r] + at, sizeof offer);
      require(next < freed.size(), "resharding: rank {} received more samples than it sent", rank);
      samples[freed[next]] = offer.sample;
      losses[freed[next++]] = offer.loss;
    }
  }
  require(next == freed.size(), "resharding: rank {} sent {} samples and received {}", rank, freed.size(), next);
  return {std::ssize(freed), m_transport->ledger().total().sent - sent_before};
}

}  // namespace gradcomp::sampling
