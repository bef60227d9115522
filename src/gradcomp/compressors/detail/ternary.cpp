#include "gradcomp/compressors/detail/ternary.hpp"

#include "gradcomp/kernels/base3.hpp"
#include "gradcomp/kernels/level_codes.hpp"

namespace gradcomp::compressors {
namespace {

/// write_scales() takes it.
struct OwnScale {
  using Codec = kernels::LinearCodec;
  TernaryScale scales;
  KOKKOS_INLINE_FUNCTION double excess(index_t) const { return 0; }
};

struct Base3State final : State {
  explicit Base3State(const Layout& bucket)
      : State(bucket),
        plan(bucket, 0, 8, 1),
        ranges(bucket, 0),
        base3(bucket),
        own("gradcomp::compressors::base3::own", static_cast<std::size_t>(plan.buckets)),
        codes("gradcomp::compressors::base3::codes", static_cast<std::size_t>(bucket.count())),
        payload("gradcomp::compressors::base3::payload", static_cast<std::size_t>(payload_header_bytes + bytes())) {
    for (const auto& segment : bucket.segments) kept.push_back(segment.count);
    target.assign(kept.size(), 0);
  }
  index_t bytes() const { return 4 * plan.buckets + base3.bytes(); }
  index_t scratch_bytes() const override {
    return plan.scratch_bytes() + ranges.bytes() + base3.scratch_bytes() +
           static_cast<index_t>(4 * own.size() + codes.size() + payload.size());
  }

  kernels::CodePlan plan;
  kernels::BucketRanges ranges;
  kernels::Base3 base3;
  Vector<float> own;
  Vector<std::int8_t> codes;
  Vector<std::byte> payload;
};

class Base3Ternary final : public Compressor {
 public:
  Base3Ternary(Info info, const Options& options) : Compressor(std::move(info), options) {
    m_scale.scales.clip = options.real("clip");
  }

  std::unique_ptr<State> prepare(const Layout& layout) const override { return std::make_unique<Base3State>(layout); }
  index_t payload_capacity(const Layout& layout) const override {
    return payload_header_bytes + payload_bytes(layout, 0);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t bytes = 4 * kernels::bucket_count(layout, 0);
    for (const auto& segment : layout.segments) bytes += (segment.count + 4) / 5;
    return bytes;
  }

  void produce(const Exec& exec, int, const Source& source, State& state, const Context& context,
               Message& message) const override {
    require(!source.has_memory(), "terngrad: it diverges with a feedback; allowed: feedback=none");
    auto& own = static_cast<Base3State&>(state);
    const bool flagged = own.ranges.run(exec, source) > 0;
    PayloadHeader head = header(source.count, flagged ? 0 : source.count);
    head.flags = flagged ? PayloadHeader::flag_skip : 0;
    message.kind = MessageKind::bytes;
    message.payload = own.payload;
    message.size = flagged ? payload_header_bytes : static_cast<index_t>(own.payload.size());
    write_header(exec, head, message.payload);
    if (flagged) return;
    auto* const scales = reinterpret_cast<float*>(own.payload.data() + payload_header_bytes);
    write_scales(exec, m_scale, own.ranges.ranges(), false, Span<float>(own.own), scales);
    const kernels::QuantiseStream stream{context.seed, context.step, static_cast<std::uint32_t>(context.rank)};
    kernels::encode_levels(exec, own.plan, kernels::LinearCodec{1}, source, stream, scales, scales, scales,
                           Span<std::int8_t>(own.codes));
    own.base3.pack(exec, Span<const std::int8_t>(own.codes),
                   reinterpret_cast<std::uint8_t*>(scales + own.plan.buckets));
  }

  void decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, State& state,
                  const Span<float>& out) const override {
    auto& own = static_cast<Base3State&>(state);
    const index_t count = own.layout.count();
    const PayloadHeader head = read_header(exec, payload, header(count, count));
    const index_t expected = payload_header_bytes + (head.skip() ? 0 : own.bytes());
    require(static_cast<index_t>(payload.size()) == expected && head.kept == (head.skip() ? 0 : head.elements),
            "terngrad: payload of {} bytes for {} entries, expected {} bytes", payload.size(), head.kept, expected);
    require(static_cast<index_t>(out.size()) == count, "terngrad: output of {} elements, expected {}", out.size(),
            count);
    if (head.skip()) return;
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "terngrad: payload is not aligned to 4 bytes");
    const auto* const scales = reinterpret_cast<const float*>(payload.data() + payload_header_bytes);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(scales + own.plan.buckets);
    require(own.base3.unpack_add(exec, bytes, scales, weight, out),
            "terngrad: payload holds a byte above 242 or a scaler out of range");
  }

 private:
  OwnScale m_scale;
};

}  // namespace

std::unique_ptr<Compressor> make_base3_ternary(Info info, const Options& options) {
  return std::make_unique<Base3Ternary>(std::move(info), options);
}

}  // namespace gradcomp::compressors
