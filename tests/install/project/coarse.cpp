#include "coarse.hpp"

using namespace gradcomp;

namespace {

struct CoarseState final : State {
  CoarseState(const Layout& bucket, index_t bytes) : State(bucket), payload("coarse::payload", bytes) {}
  index_t scratch_bytes() const override { return static_cast<index_t>(payload.size()); }
  Vector<std::byte> payload;
};

// Forms a, and returns the number of elements that are not finite.
index_t first_pass(const Exec& exec, const Source& source) {
  index_t bad = 0;
  Kokkos::parallel_reduce(
      "coarse::first_pass", IndexRange(exec, 0, source.count),
      KOKKOS_LAMBDA(const index_t i, index_t& count) {
        bool good = true;
        source.accumulate(i, good);
        count += good ? 0 : 1;
      },
      bad);
  return bad;
}

void send(const Exec& exec, const Source& source, std::int8_t* codes) {
  Kokkos::parallel_for(
      "coarse::send", IndexRange(exec, 0, source.count), KOKKOS_LAMBDA(const index_t i) {
        const float a = source.load(i);
        const float code = Kokkos::round(Kokkos::fmin(Kokkos::fmax(16 * a, -127.0f), 127.0f));
        codes[i] = static_cast<std::int8_t>(code);
        source.sent(i, a, code / 16);
      });
}

void add(const Exec& exec, const std::int8_t* codes, float weight, const Span<float>& out) {
  Kokkos::parallel_for(
      "coarse::add", IndexRange(exec, 0, static_cast<index_t>(out.size())),
      KOKKOS_LAMBDA(const index_t i) { out(i) += weight * (static_cast<float>(codes[i]) / 16); });
}

class Coarse final : public CompressorOf<CoarseState> {
 public:
  using CompressorOf::CompressorOf;

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<CoarseState>(layout, payload_capacity(layout));
  }
  index_t payload_bytes(const Layout& layout, index_t) const override { return layout.count(); }
  index_t payload_capacity(const Layout& layout) const override { return payload_header_bytes + layout.count(); }

  void do_produce(const Exec& exec, int, const Source& source, CoarseState& state, const Context&,
                  Message& message) const override {
    const auto& bytes = state.payload;
    PayloadHeader h = header(source.count, source.count);
    const bool skip = first_pass(exec, source) > 0;
    h.flags = skip ? PayloadHeader::flag_skip : 0;
    h.kept = skip ? 0 : h.kept;
    message.kind = MessageKind::bytes;
    message.payload = Span<std::byte>(bytes.data(), bytes.size());
    message.size = skip ? payload_header_bytes : static_cast<index_t>(bytes.size());
    write_header(exec, h, message.payload);
    if (!skip) send(exec, source, reinterpret_cast<std::int8_t*>(bytes.data() + payload_header_bytes));
  }

  void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, CoarseState& state,
                     const Span<float>& out, Verdict& verdict) const override {
    const index_t n = state.layout.count();
    if (read_header(exec, payload, header(n, n)).skip()) return verdict.skip(exec);
    require(static_cast<index_t>(payload.size()) == payload_capacity(state.layout), "coarse: payload of {} bytes",
            payload.size());
    add(exec, reinterpret_cast<const std::int8_t*>(payload.data() + payload_header_bytes), weight, out);
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
  info.host_sizes = true;
  info.bytes_formula = "n";
  info.passes = 4;
  return make_entry<Coarse>(info);
}
