#include "gradcomp/compressors/detail/levels/summed_levels.hpp"

#include <limits>

#include "gradcomp/kernels/lanes/elementwise.hpp"

namespace gradcomp::compressors {

SummedState::SummedState(const Layout& bucket, index_t length, int field_bits)
    : State(bucket),
      plan(bucket, length, 8, 1),
      ranges(bucket, length),
      own("gradcomp::compressors::levels::own", static_cast<std::size_t>(plan.groups)),
      offered("gradcomp::compressors::levels::offered", own.size()),
      shared("gradcomp::compressors::levels::shared", own.size()),
      sent("gradcomp::compressors::levels::sent", own.size()),
      bits(field_bits),
      codes("gradcomp::compressors::levels::codes", static_cast<std::size_t>(bits == 8 ? bucket.count() : 0)),
      sums("gradcomp::compressors::levels::sums", codes.size()),
      packed(bits == 8 ? Layout{} : bucket, length, bits == 8 ? 16 : bits),
      words("gradcomp::compressors::levels::words",
            static_cast<std::size_t>(bits == 8 ? 0 : kernels::packed_words(bucket, bits))),
      word_sums("gradcomp::compressors::levels::word_sums", words.size()) {
  for (const auto& segment : bucket.segments) kept.push_back(segment.count);
  target.assign(kept.size(), 0);
}

index_t SummedState::scratch_bytes() const {
  return plan.scratch_bytes() + ranges.bytes() + packed.bytes() +
         static_cast<index_t>(16 * own.size() + 2 * codes.size() + 8 * words.size());
}

void offer_scales(const Exec& exec, SummedState& state, Message& message) {
  kernels::fill(exec, Span<float>(state.offered), std::numeric_limits<float>::infinity(),
                state.non_finite.unless_zero());
  message.kind = MessageKind::summable;
  message.dtype = DType::f32;
  message.op = ReduceOp::max;
  message.count = state.plan.groups;
  message.data = state.offered.data();
  message.result = state.shared.data();
}

void check_shared(const Exec& exec, SummedState& state) {
  const auto shared = state.shared;
  const auto skip = state.skip.count();
  state.skip.clear(exec);
  Kokkos::parallel_for(
      "gradcomp::compressors::check_shared", IndexRange(exec, 0, state.plan.groups), KOKKOS_LAMBDA(const index_t b) {
        if (!kernels::is_norm(shared(b))) Kokkos::atomic_add(&skip(0), index_t{1});
      });
}

void send_levels(const Exec& exec, SummedState& state, const Source& source, const Context& context, Message& message) {
  const bool bytes = state.bits == 8;
  message.kind = MessageKind::summable;
  message.dtype = bytes ? DType::i8 : DType::i32;
  message.op = ReduceOp::sum;
  message.count = static_cast<index_t>(bytes ? state.codes.size() : state.words.size());
  message.data = bytes ? static_cast<const void*>(state.codes.data()) : state.words.data();
  message.result = bytes ? static_cast<void*>(state.sums.data()) : state.word_sums.data();
  kernels::fill(exec, Span<std::int8_t>(state.codes), std::int8_t{0}, state.skip.unless_zero());
  kernels::fill(exec, Span<std::int32_t>(state.words), 0, state.skip.unless_zero());
  const Gate good = state.skip.if_zero();
  const auto shared = state.shared, sent = state.sent;
  const double factor = state.factor;
  Kokkos::parallel_for(
      "gradcomp::compressors::send_levels", IndexRange(exec, 0, state.plan.groups),
      KOKKOS_LAMBDA(const index_t b) { sent(b) = static_cast<float>(factor * static_cast<double>(shared(b))); });
  const kernels::QuantiseStream stream{context.seed, context.step, static_cast<std::uint32_t>(context.rank)};
  if (bytes) {
    kernels::encode_levels(exec, state.plan, state.codec, source, stream, state.own.data(), shared.data(), sent.data(),
                           good, Span<std::int8_t>(state.codes));
  } else {
    state.packed.encode(exec, state.codec, source, stream, state.own.data(), shared.data(), sent.data(), good,
                        Span<std::int32_t>(state.words));
  }
}

namespace {

/// out = or += weight * values of the summed levels, or of this rank's own levels. Does nothing in a skipped step.
void decode(const Exec& exec, const SummedState& state, bool own, float weight, bool add, const Span<float>& out) {
  const Gate good = state.skip.if_zero();
  if (state.bits == 8) {
    kernels::decode_levels(exec, state.plan, state.codec, Span<const std::int8_t>(own ? state.codes : state.sums),
                           state.sent.data(), weight, add, good, out);
  } else {
    state.packed.decode(exec, state.codec, Span<const std::int32_t>(own ? state.words : state.word_sums),
                        state.sent.data(), weight, add, good, out);
  }
}

}  // namespace

void finish_levels(const Exec& exec, const SummedState& state, const Context& context, const Span<float>& out,
                   Verdict& verdict) {
  verdict.skip_if(exec, state.skip.unless_zero());
  decode(exec, state, false, 1.0f / static_cast<float>(context.ranks), false, out);
}

void return_levels(const Exec& exec, const SummedState& state, const Source& source) {
  if (!source.has_memory()) return;
  decode(exec, state, true, source.returning(), true,
         Span<float>(source.memory, static_cast<std::size_t>(source.count)));
}

}  // namespace gradcomp::compressors
