// Figures that need no clock: checksums against bytes that are computed in another way, and allocations against known
// ones.
#include "deterministic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "gradcomp/data/files.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {
namespace deterministic_test {

Deterministic of(const std::string& spec, index_t count, const std::string& phase = "pair", std::uint64_t seed = 1) {
  const Exec exec;
  const auto gradient = laplace_gradient(exec, count, 1);
  return deterministic(exec, parse_method(spec), layer_like(count), Span<const float>(gradient.data(), gradient.size()),
                       seed, phase, "test");
}

/// Checksum of the floats of a gradient of `count` elements.
std::uint32_t gradient_checksum(index_t count) {
  const Exec exec;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), laplace_gradient(exec, count, 1));
  return data::crc32(reinterpret_cast<const std::uint8_t*>(host.data()), sizeof(float) * host.size());
}

TEST(Deterministic, ChecksumsAreThoseOfTheBytes) {
  for (const index_t count : {1, 1000, 4099}) {
    const Deterministic found = of("fp32", count);  // sends the gradient itself
    EXPECT_EQ(found.payload, gradient_checksum(count)) << count;
    EXPECT_EQ(found.decoded, gradient_checksum(count)) << count;
  }
}

TEST(Deterministic, PayloadIsThatOfALoop) {
  const Exec exec;
  const auto gradient = laplace_gradient(exec, 4099, 1);
  OneRank loop(parse_method("powersgd"), layer_like(4099), 1);  // it has messages in several rounds
  std::uint32_t expected = 0;
  int messages = 0;
  loop.on_message([&](const Message& message) {
    ++messages;
    const Span<const std::uint8_t> sent(static_cast<const std::uint8_t*>(message.data),
                                        static_cast<std::size_t>(message.bytes()));
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sent);
    expected = data::crc32(host.data(), host.size(), expected);
  });
  loop.forget(exec);
  loop.compress(exec, Span<const float>(gradient.data(), gradient.size()));
  EXPECT_GT(messages, 1);
  EXPECT_EQ(of("powersgd", 4099).payload, expected);
}

TEST(Deterministic, FollowTheSeedAndNotThePhase) {
  const Deterministic first = of("random_k", 4099), again = of("random_k", 4099, "compress");
  EXPECT_EQ(first.payload, again.payload);
  EXPECT_EQ(first.decoded, again.decoded);
  const Deterministic other = of("random_k", 4099, "pair", 2);
  EXPECT_NE(first.payload, other.payload);
  EXPECT_NE(first.decoded, other.decoded);
}

TEST(Deterministic, ErrorIsThatOfWhatWasDecoded) {
  EXPECT_EQ(of("fp32", 4099).nmse, 0);
  const Exec exec;
  const auto gradient = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), laplace_gradient(exec, 1000, 1));
  std::vector<double> squares(gradient.size());
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<double>(gradient(i)) * gradient(i);
  std::sort(squares.begin(), squares.end());
  const double all = std::accumulate(squares.begin(), squares.end(), 0.0);
  const double dropped = std::accumulate(squares.begin(), squares.end() - 10, 0.0);
  EXPECT_NEAR(of("top_k:ratio=0.01:feedback=none", 1000, "compress").nmse, dropped / all, 1e-12);
  EXPECT_NEAR(of("top_k:ratio=0.01", 1000).nmse, dropped / all, 1e-12) << "the memory is empty at first";
}

TEST(Deterministic, NoMethodAllocatesInTheSteadyState) {
  for (const auto& entry : all_entries()) EXPECT_EQ(of(entry.info.name, 1000).allocations, 0) << entry.info.name;
}

TEST(Deterministic, AllocationsAreCounted) {
  const auto two = [] { const Vector<float> first("first", 10), second("second", 10); };
  EXPECT_EQ(count_allocations(two), 2);
  EXPECT_EQ(count_allocations([] {}), 0);
  EXPECT_EQ(count_allocations([] { Kokkos::kokkos_free(Kokkos::kokkos_malloc("empty", 0)); }), 0);
  EXPECT_THROW(count_allocations([] { throw std::runtime_error("stop"); }), std::runtime_error);
  const Vector<float> outside("outside", 10);  // the counter is off again here
  EXPECT_EQ(count_allocations([] {}), 0);
}

}  // namespace deterministic_test
}  // namespace gradcomp::bench
