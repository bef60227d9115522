#include "gradcomp/compressors/fp32.hpp"

#include <utility>

namespace gradcomp::compressors {

/// Work space of one bucket: n floats. Nothing persists between steps.
struct Fp32State final : State {
  explicit Fp32State(const Layout& bucket)
      : State(bucket), sum("gradcomp::compressors::fp32::sum", static_cast<std::size_t>(bucket.count())) {}
  index_t scratch_bytes() const override { return 4 * layout.count(); }

  Vector<float> sum;   ///< the reduction; after finish(), with a memory, what this rank had sent
  bool taken = false;  ///< finish() emptied the memory
};

/// copy[i] = a[i], NaN where the gradient is not finite; the memory keeps a until finish().
void copy_accumulated(const Exec& exec, const Source& source, const Vector<float>& copy) {
  Kokkos::parallel_for(
      "gradcomp::compressors::copy_accumulated", Kokkos::RangePolicy<Exec>(exec, 0, source.count),
      KOKKOS_LAMBDA(const index_t i) {
        bool good = true;
        const float a = source.first(i, good);
        copy(i) = good ? a : Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

/// out = sum / ranks. False when any element is not finite.
bool divide_sum(const Exec& exec, const Vector<float>& sum, float ranks, const Span<float>& out) {
  std::uint32_t bad = 0;  // an integer counter: the loop vectorises, and the order of the additions does not matter
  Kokkos::parallel_reduce(
      "gradcomp::compressors::divide_sum", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(sum.size())),
      KOKKOS_LAMBDA(const index_t i, std::uint32_t& count) {
        const float value = sum(i);
        out(i) = value / ranks;
        count += Source::is_finite(value) ? 0u : 1u;
      },
      bad);
  return bad == 0;
}

/// Moves a from the memory to `sent` (it may be asked back), leaving a residual of zero.
void empty_memory(const Exec& exec, const Source& source, const Vector<float>& sent) {
  Kokkos::parallel_for(
      "gradcomp::compressors::empty_memory", Kokkos::RangePolicy<Exec>(exec, 0, source.count),
      KOKKOS_LAMBDA(const index_t i) {
        const float a = source.load(i);
        sent(i) = a;
        source.sent(i, a, a);
      });
}

class Fp32 final : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<Fp32State>(layout); }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 * layout.count(); }

  void produce(const Exec& exec, int, const Source& source, State& state, const Context&,
               Message& message) const override {
    auto& own = static_cast<Fp32State&>(state);
    own.taken = false;
    if (source.has_memory()) copy_accumulated(exec, source, own.sum);
    message.kind = MessageKind::summable;
    message.dtype = DType::f32;
    message.op = ReduceOp::sum;
    message.count = source.count;
    message.data = source.has_memory() ? own.sum.data() : source.gradient;
    message.result = own.sum.data();
  }

  bool finish(const Exec& exec, const Source& source, State& state, const Context& context,
              const Span<float>& out) const override {
    auto& own = static_cast<Fp32State&>(state);
    if (!divide_sum(exec, own.sum, static_cast<float>(context.ranks), out)) return false;
    own.taken = source.has_memory();
    if (own.taken) empty_memory(exec, source, own.sum);
    return true;
  }

  void give_back(const Exec& exec, const Source& source, State& state, const Message&,
                 const Span<const float>&) const override {
    auto& own = static_cast<Fp32State&>(state);
    if (!std::exchange(own.taken, false)) return;  // the memory still holds a
    Kokkos::deep_copy(exec, Span<float>(source.memory, own.sum.size()), own.sum);
  }
};

Entry fp32() {
  Info info;
  info.name = "fp32";
  info.summary = "dense allreduce of the gradient as it is: the reference of every comparison";
  info.paper = "Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms, JPDC 2009";
  info.family = Info::Family::control;
  info.property = Info::Property::exact;
  info.rounds = {MessageKind::summable};
  info.reducers = {"allreduce"};
  info.bytes_formula = "4 n";
  info.passes = 0;
  return make_entry<Fp32>(info);
}

}  // namespace gradcomp::compressors
