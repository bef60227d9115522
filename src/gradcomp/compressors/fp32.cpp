#include "gradcomp/compressors/fp32.hpp"

#include <utility>

#include "gradcomp/kernels/add_count.hpp"
#include "gradcomp/kernels/elementwise.hpp"
#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::compressors {

/// The sum is formed where the mean will be; a memory needs n floats more. Nothing persists between steps.
struct Fp32State final : State {
  using State::State;
  index_t scratch_bytes() const override { return 4 * static_cast<index_t>(sent.size()); }
  void remember() override {
    sent = Vector<float>("gradcomp::compressors::fp32::sent", static_cast<std::size_t>(layout.count()));
  }

  Vector<float> sent;     ///< with a memory: what this rank had sent
  bool finished = false;  ///< finish() was called
  Tally bad;              ///< elements of the sum that are not finite: then it did not empty the memory
};

/// copy[i] = a[i], NaN where the gradient is not finite; the memory keeps a until finish().
void copy_accumulated(const Exec& exec, const Source& source, float* copy) {
  Kokkos::parallel_for(
      "gradcomp::compressors::copy_accumulated", Kokkos::RangePolicy<Exec>(exec, 0, source.count),
      KOKKOS_LAMBDA(const index_t i) {
        bool good = true;
        const float a = source.first(i, good);
        copy[i] = good ? a : Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

/// out = sum / ranks, which may be one array. Counts the elements that are not finite.
void divide_sum(const Exec& exec, const float* sum, float ranks, const Tally& bad, const Span<float>& out) {
  const auto n = static_cast<index_t>(out.size());
  const auto count = bad.count();
  bad.clear(exec);
  kernels::for_warps(
      "gradcomp::compressors::divide_sum", exec, (n + kernels::tile_size - 1) / kernels::tile_size,
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const index_t first = t * kernels::tile_size, left = n - first;
        const float* const in = sum + first;
        float* const target = out.data() + first;
        kernels::Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = 0; });
        kernels::each_element(warp, left < kernels::tile_size ? left : kernels::tile_size, [&](int l, index_t e) {
          const float value = in[e];
          target[e] = value / ranks;
          wrong[l] += Source::is_finite(value) ? 0 : 1;
        });
        kernels::add_count(warp, wrong, count);
      });
}

/// Moves a from the memory to `sent` (it may be asked back), leaving a residual of zero, where `gate` is open.
void empty_memory(const Exec& exec, const Source& source, const Gate& gate, const Vector<float>& sent) {
  if (!gate.may_open()) return;
  Kokkos::parallel_for(
      "gradcomp::compressors::empty_memory", Kokkos::RangePolicy<Exec>(exec, 0, source.count),
      KOKKOS_LAMBDA(const index_t i) {
        if (!gate.open()) return;
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
    own.finished = false;
    if (source.has_memory()) copy_accumulated(exec, source, source.target);
    message.kind = MessageKind::summable;
    message.dtype = DType::f32;
    message.op = ReduceOp::sum;
    message.count = source.count;
    message.data = source.has_memory() ? source.target : source.gradient;
    message.result = source.target;
  }

  void finish(const Exec& exec, const Source& source, State& state, const Context& context, const Span<float>& out,
              Verdict& verdict) const override {
    auto& own = static_cast<Fp32State&>(state);
    divide_sum(exec, source.target, static_cast<float>(context.ranks), own.bad, out);
    verdict.skip_if(exec, own.bad.unless_zero());
    own.finished = true;
    if (source.has_memory()) empty_memory(exec, source, own.bad.if_zero(), own.sent);
  }

  void give_back(const Exec& exec, const Source& source, State& state, const Message&,
                 const Span<const float>&) const override {
    auto& own = static_cast<Fp32State&>(state);
    const bool finished = std::exchange(own.finished, false);  // before, the memory holds a
    if (!finished || !source.has_memory()) return;
    kernels::assign(exec, Span<float>(source.memory, own.sent.size()), own.sent, own.bad.if_zero());
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
  info.reducer = "allreduce";
  info.bytes_formula = "4 n";
  info.passes = 0;
  info.in_place = true;
  return make_entry<Fp32>(info);
}

}  // namespace gradcomp::compressors
