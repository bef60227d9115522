#include "gradcomp/compressors/detail/summed_levels.hpp"

#include <limits>

namespace gradcomp::compressors {

SummedState::SummedState(const Layout& bucket, index_t length)
    : State(bucket),
      plan(bucket, length, 8, 1),
      ranges(bucket, length),
      own("gradcomp::compressors::levels::own", static_cast<std::size_t>(plan.buckets)),
      offered("gradcomp::compressors::levels::offered", own.size()),
      shared("gradcomp::compressors::levels::shared", own.size()),
      sent("gradcomp::compressors::levels::sent", own.size()),
      codes("gradcomp::compressors::levels::codes", static_cast<std::size_t>(bucket.count())),
      sums("gradcomp::compressors::levels::sums", codes.size()) {
  for (const auto& segment : bucket.segments) kept.push_back(segment.count);
  target.assign(kept.size(), 0);
}

index_t SummedState::scratch_bytes() const {
  return plan.scratch_bytes() + ranges.bytes() + static_cast<index_t>(16 * own.size() + 2 * codes.size());
}

void offer_scales(const Exec& exec, SummedState& state, bool flagged, Message& message) {
  if (flagged) Kokkos::deep_copy(exec, state.offered, std::numeric_limits<float>::infinity());
  message.kind = MessageKind::summable;
  message.dtype = DType::f32;
  message.op = ReduceOp::max;
  message.count = state.plan.buckets;
  message.data = state.offered.data();
  message.result = state.shared.data();
}

void check_shared(const Exec& exec, SummedState& state) {
  const auto shared = state.shared;
  std::uint32_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::compressors::check_shared", Kokkos::RangePolicy<Exec>(exec, 0, state.plan.buckets),
      KOKKOS_LAMBDA(const index_t b, std::uint32_t& count) { count += kernels::is_norm(shared(b)) ? 0u : 1u; }, bad);
  state.skip = bad > 0;
}

void send_levels(const Exec& exec, SummedState& state, const Source& source, const Context& context, Message& message) {
  message.kind = MessageKind::summable;
  message.dtype = DType::i8;
  message.op = ReduceOp::sum;
  message.count = source.count;
  message.data = state.codes.data();
  message.result = state.sums.data();
  if (state.skip) return Kokkos::deep_copy(exec, state.codes, std::int8_t{0});
  const auto shared = state.shared, sent = state.sent;
  const double factor = state.factor;
  Kokkos::parallel_for(
      "gradcomp::compressors::send_levels", Kokkos::RangePolicy<Exec>(exec, 0, state.plan.buckets),
      KOKKOS_LAMBDA(const index_t b) { sent(b) = static_cast<float>(factor * static_cast<double>(shared(b))); });
  const kernels::QuantiseStream stream{context.seed, context.step, static_cast<std::uint32_t>(context.rank)};
  kernels::encode_levels(exec, state.plan, state.codec, source, stream, state.own.data(), shared.data(), sent.data(),
                         Span<std::int8_t>(state.codes));
}

bool finish_levels(const Exec& exec, const SummedState& state, const Context& context, const Span<float>& out) {
  if (state.skip) return false;
  kernels::decode_levels(exec, state.plan, state.codec, Span<const std::int8_t>(state.sums), state.sent.data(),
                         1.0f / static_cast<float>(context.ranks), false, out);
  return true;
}

void return_levels(const Exec& exec, const SummedState& state, const Source& source) {
  if (!source.has_memory() || state.skip) return;
  kernels::decode_levels(exec, state.plan, state.codec, Span<const std::int8_t>(state.codes), state.sent.data(),
                         source.returning(), true, Span<float>(source.memory, static_cast<std::size_t>(source.count)));
}

}  // namespace gradcomp::compressors
