#include "gradcomp/compressors/none.hpp"

#include <utility>

#include "gradcomp/kernels/add_count.hpp"
#include "gradcomp/kernels/elementwise.hpp"
#include "gradcomp/kernels/source_rows.hpp"
#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::compressors {

struct NoneState final : State {
  using State::State;
  bool finished = false;  ///< finish() was called
  Tally bad;              ///< elements that are not finite: then it did not empty the memory
};

/// out = a; the memory keeps a. Counts the gradient elements that are not finite.
void copy_gradient(const Exec& exec, const Source& source, const Tally& bad, const Span<float>& out) {
  const auto count = bad.count();
  bad.clear(exec);
  kernels::for_warps(
      "gradcomp::compressors::copy_gradient", exec, (source.count + kernels::tile_size - 1) / kernels::tile_size,
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const index_t first = t * kernels::tile_size, left = source.count - first;
        const index_t size = left < kernels::tile_size ? left : kernels::tile_size;
        float* const target = out.data() + first;
        kernels::Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = 0; });
        kernels::first_rows(warp, source, first, size, wrong, [&](int l, float a, int row) {
          const index_t e = index_t{kernels::warp_lanes} * row + l;
          if (e < size) target[e] = a;
        });
        kernels::add_count(warp, wrong, count);
      });
}

class None final : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<NoneState>(layout); }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout&, index_t) const override { return 0; }

  void produce(const Exec&, int, const Source&, State& state, const Context&, Message& message) const override {
    static_cast<NoneState&>(state).finished = false;
    message = Message{};
  }

  void finish(const Exec& exec, const Source& source, State& state, const Context&, const Span<float>& out,
              Verdict& verdict) const override {
    auto& own = static_cast<NoneState&>(state);
    copy_gradient(exec, source, own.bad, out);
    verdict.skip_if(exec, own.bad.unless_zero());
    own.finished = true;
    if (source.has_memory()) kernels::fill(exec, Span<float>(source.memory, out.size()), 0.0f, own.bad.if_zero());
  }

  void give_back(const Exec& exec, const Source& source, State& state, const Message&,
                 const Span<const float>& out) const override {
    auto& own = static_cast<NoneState&>(state);
    const bool finished = std::exchange(own.finished, false);  // before, the memory holds a
    if (!finished || !source.has_memory()) return;
    kernels::assign(exec, Span<float>(source.memory, out.size()), out, own.bad.if_zero());
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
  info.reducer = "local";
  info.travels = false;
  info.bytes_formula = "0";
  info.passes = 0;
  info.in_place = true;
  return make_entry<None>(info);
}

}  // namespace gradcomp::compressors
