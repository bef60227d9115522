#include "gradcomp/compressors/detail/levels/summed_levels.hpp"

#include <limits>

#include "gradcomp/kernels/lanes/mark_sum.hpp"

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
      word_sums("gradcomp::compressors::levels::word_sums", words.size()),
      bad("gradcomp::compressors::levels::bad", 1) {
  kept = bucket.counts();
  target.assign(kept.size(), 0);
}

index_t SummedState::scratch_bytes() const {
  return plan.scratch_bytes() + ranges.bytes() + packed.bytes() +
         static_cast<index_t>(16 * own.size() + 2 * codes.size() + 8 * words.size());
}

Message offer_scales(const Exec& exec, const SummedState& state) {
  kernels::mark_sum(exec, Mark{state.bad.data()}, std::numeric_limits<float>::infinity(), Span<float>(state.offered));
  Message message;
  message.op = ReduceOp::max;
  message.count = state.plan.groups;
  message.data = state.offered.data();
  message.result = state.shared.data();
  return message;
}

Message send_levels(const Exec& exec, const SummedState& state, const Step& step) {
  const bool bytes = state.bits == 8;
  Message message;
  message.dtype = bytes ? DType::i8 : DType::i32;
  message.count = static_cast<index_t>(bytes ? state.codes.size() : state.words.size());
  message.data = bytes ? static_cast<const void*>(state.codes.data()) : state.words.data();
  message.result = bytes ? static_cast<void*>(state.sums.data()) : state.word_sums.data();
  const auto shared = state.shared, sent = state.sent;
  const double factor = state.factor;
  const FaultCounts faults = step.faults;
  Kokkos::parallel_for(
      "gradcomp::compressors::send_levels", IndexRange(exec, 0, state.plan.groups), KOKKOS_LAMBDA(const index_t b) {
        const bool good = kernels::is_norm(shared(b));
        if (!good) faults.diverged();
        sent(b) = good ? static_cast<float>(factor * static_cast<double>(shared(b))) : 0.0f;
      });
  const kernels::QuantiseStream stream{step.context.seed, step.context.step,
                                       static_cast<std::uint32_t>(step.context.rank)};
  if (bytes) {
    kernels::encode_levels(exec, state.plan, state.codec, step.source, stream, state.own.data(), shared.data(),
                           sent.data(), Span<std::int8_t>(state.codes));
  } else {
    state.packed.encode(exec, state.codec, step.source, stream, state.own.data(), shared.data(), sent.data(),
                        Span<std::int32_t>(state.words));
  }
  return message;
}

void finish_levels(const Exec& exec, const SummedState& state, const Step& step) {
  const float share = 1.0f / static_cast<float>(step.context.ranks);
  if (state.bits == 8) {
    kernels::decode_levels(exec, state.plan, state.codec, Span<const std::int8_t>(state.sums), state.sent.data(), share,
                           step.mean);
  } else {
    state.packed.decode(exec, state.codec, Span<const std::int32_t>(state.word_sums), state.sent.data(), share,
                        step.mean);
  }
}

}  // namespace gradcomp::compressors
