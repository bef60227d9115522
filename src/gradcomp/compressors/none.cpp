#include "gradcomp/compressors/none.hpp"

#include <utility>

namespace gradcomp::compressors {

struct NoneState final : State {
  using State::State;
  bool taken = false;  ///< finish() emptied the memory
};

/// out = a; the memory keeps a. False when any gradient element is not finite.
bool copy_gradient(const Exec& exec, const Source& source, const Span<float>& out) {
  std::uint32_t bad = 0;
  Kokkos::parallel_reduce(
      "gradcomp::compressors::copy_gradient", Kokkos::RangePolicy<Exec>(exec, 0, source.count),
      KOKKOS_LAMBDA(const index_t i, std::uint32_t& count) {
        bool good = true;
        out(i) = source.first(i, good);
        count += good ? 0u : 1u;
      },
      bad);
  return bad == 0;
}

class None final : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<NoneState>(layout); }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout&, index_t) const override { return 0; }

  void produce(const Exec&, int, const Source&, State& state, const Context&, Message& message) const override {
    static_cast<NoneState&>(state).taken = false;
    message = Message{};
  }

  bool finish(const Exec& exec, const Source& source, State& state, const Context&,
              const Span<float>& out) const override {
    if (!copy_gradient(exec, source, out)) return false;
    static_cast<NoneState&>(state).taken = source.has_memory();
    if (source.has_memory()) Kokkos::deep_copy(exec, Span<float>(source.memory, out.size()), 0.0f);
    return true;
  }

  void give_back(const Exec& exec, const Source& source, State& state, const Message&,
                 const Span<const float>& out) const override {
    if (!std::exchange(static_cast<NoneState&>(state).taken, false)) return;  // the memory still holds a
    Kokkos::deep_copy(exec, Span<float>(source.memory, out.size()), out);
  }
};

Entry none() {
  Info info;
  info.name = "none";
  info.summary = "no communication: every rank keeps its own gradient (a bound on time, not a training method)";
  info.paper = "control of this suite";
  info.family = Info::Family::control;
  info.property = Info::Property::exact;
  info.rounds = {MessageKind::summable};
  info.reducers = {"local"};
  info.bytes_formula = "0";
  info.passes = 0;
  return make_entry<None>(info);
}

}  // namespace gradcomp::compressors
