#include "gradcomp/data/shards.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <numeric>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::data {
namespace {

/// Streams (CounterRng's `a`); dealing_stream changes the seed instead.
constexpr std::uint64_t shares_stream = 0x5B01, order_stream = 0x5B02, owner_stream = 0x5B03,
                        dealing_stream = 0x5B04ULL << 48U;

/// Uniform on the midpoints of 2^53 equal intervals of (0, 1), so that it is neither 0 nor 1.
double open_unit(CounterRng& rng) { return (static_cast<double>(rng.next() >> 11U) + 0.5) * 0x1p-53; }

/// A draw from the symmetric Dirichlet distribution over `ranks`, without normalisation: independent gamma variables
/// with the shape `concentration`, by inversion.
std::vector<double> draw_shares(double concentration, std::size_t ranks, CounterRng rng) {
  std::vector<double> uniform(ranks), shares(ranks);
  for (double& u : uniform) u = open_unit(rng);
  std::transform(uniform.begin(), uniform.end(), shares.begin(),
                 [&](double u) { return boost::math::gamma_p_inv(concentration, u); });
  const auto largest = std::max_element(uniform.begin(), uniform.end()) - uniform.begin();
  // With a tiny concentration all shares may underflow. In the limit, one rank has everything.
  if (*std::max_element(shares.begin(), shares.end()) < 1e-290) shares[static_cast<std::size_t>(largest)] = 1;
  return shares;
}

/// A rank with room, drawn in proportion to `shares`. If the shares of all ranks with room are 0, the rank with most
/// room.
std::size_t draw_owner(const std::vector<double>& shares, const std::vector<index_t>& room, double uniform) {
  double total = 0;
  for (std::size_t r = 0; r < room.size(); ++r) total += room[r] > 0 ? shares[r] : 0;
  const auto roomiest = static_cast<std::size_t>(std::max_element(room.begin(), room.end()) - room.begin());
  if (!(total > 0)) return roomiest;
  double left = uniform * total;
  std::size_t last = roomiest;
  for (std::size_t r = 0; r < room.size(); ++r) {
    if (room[r] == 0 || shares[r] <= 0) continue;
    last = r;
    left -= shares[r];
    if (left < 0) break;
  }
  return last;
}

std::vector<std::int32_t> labels_of(const ImageSet& set, const Shard& shard) {
  if (shard.skew == 0) return {};
  return {set.labels.begin(), set.labels.end()};
}

Sampler make_sampler(index_t count, const Shard& shard) {
  if (shard.skew == 0) return Sampler({count, shard.batch, shard.rank, shard.ranks, shard.seed});
  return Sampler({count, shard.batch, 0, 1, shard.seed});
}

}  // namespace

std::vector<index_t> skewed_samples(std::span<const std::int32_t> labels, index_t classes, const Shard& shard) {
  require(shard.skew >= 0.01 && shard.skew <= 1e6, "skew {} is not allowed; 0, or a number in [0.01, 1e6]", shard.skew);
  require(shard.ranks >= 1 && shard.rank >= 0 && shard.rank < shard.ranks,
          "rank {} of {} ranks is not allowed; at least 1 rank, numbered from 0", shard.rank, shard.ranks);
  const auto ranks = static_cast<std::size_t>(shard.ranks);
  std::vector<std::vector<double>> shares;
  for (index_t c = 0; c < classes; ++c) {
    shares.push_back(
        draw_shares(shard.skew, ranks, CounterRng(shard.seed, shares_stream, static_cast<std::uint64_t>(c))));
  }
  std::vector<index_t> order(labels.size());
  std::iota(order.begin(), order.end(), index_t{0});
  CounterRng shuffle(shard.seed, order_stream);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[shuffle.below(i)]);

  const index_t capacity = std::ssize(labels) / shard.ranks;
  std::vector<index_t> room(ranks, capacity), own;
  order.resize(static_cast<std::size_t>(capacity) * ranks);
  for (const index_t sample : order) {
    const std::int32_t label = labels[static_cast<std::size_t>(sample)];
    require(label >= 0 && label < classes, "sample {} has label {}, allowed 0 to {}", sample, label, classes - 1);
    CounterRng rng(shard.seed, owner_stream, static_cast<std::uint64_t>(sample));
    const std::size_t owner = draw_owner(shares[static_cast<std::size_t>(label)], room, open_unit(rng));
    --room[owner];
    if (owner == static_cast<std::size_t>(shard.rank)) own.push_back(sample);
  }
  std::sort(own.begin(), own.end());
  return own;
}

std::vector<index_t> dealt_samples(index_t count, const Shard& shard) {
  const Sampler checked(
      {count, shard.batch, shard.rank, shard.ranks, shard.seed});  // throws if a number is not allowed
  const std::vector<index_t> order = shuffled(count, shard.seed ^ dealing_stream, 0);
  std::vector<index_t> own;
  for (index_t i = 0; i < count / shard.ranks; ++i) {
    own.push_back(order[static_cast<std::size_t>(i * shard.ranks + shard.rank)]);
  }
  std::sort(own.begin(), own.end());
  return own;
}

std::vector<index_t> own_samples(std::span<const std::int32_t> labels, index_t classes, const Shard& shard) {
  if (shard.skew == 0) return dealt_samples(std::ssize(labels), shard);
  std::vector<index_t> own = skewed_samples(labels, classes, shard);
  make_sampler(std::ssize(own), shard);  // throws if they are too few
  return own;
}

std::vector<index_t> own_samples(const ImageSet& set, const Shard& shard) {
  return shard.skew == 0 ? dealt_samples(set.count(), shard) : own_samples(labels_of(set, shard), set.classes, shard);
}

ShardSampler::ShardSampler(const ImageSet& set, const Shard& shard)
    : m_own(shard.skew == 0 ? std::vector<index_t>() : skewed_samples(labels_of(set, shard), set.classes, shard)),
      m_sampler(make_sampler(shard.skew == 0 ? set.count() : std::ssize(m_own), shard)) {}

ShardSampler::ShardSampler(std::span<const std::int32_t> labels, index_t classes, const Shard& shard)
    : m_own(shard.skew == 0 ? std::vector<index_t>() : skewed_samples(labels, classes, shard)),
      m_sampler(make_sampler(shard.skew == 0 ? std::ssize(labels) : std::ssize(m_own), shard)) {}

void ShardSampler::batch(index_t step, std::vector<index_t>& indices) {
  m_sampler.batch(step, indices);
  if (m_own.empty()) return;
  for (index_t& i : indices) i = m_own[static_cast<std::size_t>(i)];
}

}  // namespace gradcomp::data
