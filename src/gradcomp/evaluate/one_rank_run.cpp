#include "gradcomp/evaluate/one_rank_run.hpp"

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp::evaluate {
namespace {

void append(const Exec& exec, const Message& message, std::vector<std::byte>& bytes) {
  const auto* data =
      message.kind == MessageKind::bytes ? message.payload.data() : static_cast<const std::byte*>(message.data);
  const std::size_t before = bytes.size(), count = static_cast<std::size_t>(message.bytes());
  if (count == 0) return;
  bytes.resize(before + count);
  read_back(exec, Span<const std::byte>(data, count), bytes.data() + before, "gradcomp::evaluate::append");
}

}  // namespace

std::vector<float> copied(const float* device, std::size_t count) {
  std::vector<float> host(count);
  Kokkos::deep_copy(HostSpan<float>(host.data(), count), Span<const float>(device, count));
  return host;
}

void OneRankRun::step(const Exec& exec, const Span<const float>& gradient, std::int64_t number,
                      std::vector<std::byte>* bytes) {
  if (bytes != nullptr) bytes->clear();
  double copying = 0;  // seconds that compress() spends on the copies of messages
  rank.on_message([&](const Message& message) {
    if (bytes == nullptr) return;
    Stopwatch watch(exec);
    watch.start();
    append(exec, message, *bytes);
    copying += watch.stop();
  });
  const auto timed = [&](const auto& work) {
    Stopwatch watch(exec);
    watch.start();
    work();
    return watch.stop() - rank.take_exchange_seconds();
  };
  compress_ms = 1e3 * (timed([&] { rank.compress(exec, gradient, number); }) - copying);
  decompress_ms = 1e3 * timed([&] { rank.decompress(exec); });
  rank.on_message(nullptr);
}

}  // namespace gradcomp::evaluate
