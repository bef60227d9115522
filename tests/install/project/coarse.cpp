#include "coarse.hpp"

using namespace gradcomp;

namespace {

// The header never changes, except for its flag, so it is written once.
struct CoarseState final : State {
  CoarseState(const Layout& bucket, const PayloadHeader& header, index_t bytes)
      : State(bucket), payload("coarse::payload", bytes) {
    const Exec exec;
    write_header(exec, header, payload);
    exec.fence("coarse::prepare");
  }
  index_t scratch_bytes() const override { return static_cast<index_t>(payload.size()); }
  Vector<std::byte> payload;
};

// Forms a, writes its codes and leaves the rest in the memory. An element that is not finite flags the payload.
void send(const Exec& exec, const Source& source, const Mark& mark, std::int8_t* codes) {
  Kokkos::parallel_for(
      "coarse::send", IndexRange(exec, 0, source.count), KOKKOS_LAMBDA(const index_t i) {
        bool good = true;
        const float a = source.accumulate(i, good);
        if (!good) mark.set();
        const float code = Kokkos::round(Kokkos::fmin(Kokkos::fmax(16 * a, -127.0f), 127.0f));
        codes[i] = static_cast<std::int8_t>(code);
        source.sent(i, a, code / 16);
      });
}

// Adds nothing unless the header is the expected one, without the flag.
void add(const Exec& exec, const Admission& admission, const std::int8_t* codes, float weight, const Span<float>& out) {
  Kokkos::parallel_for(
      "coarse::add", IndexRange(exec, 0, static_cast<index_t>(out.size())), KOKKOS_LAMBDA(const index_t i) {
        if (admission.admits(i == 0)) out(i) += weight * (static_cast<float>(codes[i]) / 16);
      });
}

class Coarse final : public Compressor {
 public:
  using Compressor::Compressor;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<CoarseState>(layout, header(layout.count(), layout.count()), payload_capacity(layout));
  }
  index_t payload_bytes(const Layout& layout, index_t) const override { return layout.count(); }

  Message produce(const Exec& exec, int, const Step& step, State& state) const override {
    const Span<std::byte> payload = state.as<CoarseState>().payload;
    send(exec, step.source, mark_in(payload), reinterpret_cast<std::int8_t*>(payload.data() + payload_header_bytes));
    Message message;
    message.kind = MessageKind::bytes;
    message.payload = payload;
    message.size = static_cast<index_t>(payload.size());
    return message;
  }

  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    const index_t n = state.layout.count();
    const std::byte* const bytes = received.bytes.data();
    require(static_cast<index_t>(received.bytes.size()) == payload_capacity(state.layout),
            "coarse: payload of {} bytes", received.bytes.size());
    Admission admission{reinterpret_cast<const std::uint32_t*>(bytes), header(n, n), received.faults, out.data()};
    if (!admission.settle()) return;
    add(exec, admission, reinterpret_cast<const std::int8_t*>(bytes + payload_header_bytes), received.weight, out);
  }
};

}  // namespace

Entry coarse() {
  Info info;
  info.name = "coarse";
  info.summary = "sixteenths in a byte";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::biased;
  info.scale_free = false;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.feedback = "residual";
  info.bytes_formula = "n";
  info.compress = {1, 0, 1};
  return make_entry<Coarse>(info);
}
