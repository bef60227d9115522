// Kernels of quantisers: encoding to 2, 4 and 8 bits, and decoding.
#include <algorithm>
#include <cmath>
#include <memory>

#include "gradcomp/kernels/quantise/code_plan.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t group = 512;  ///< elements that share a scale
constexpr float weight = 0.5f;

/// Codes by stochastic rounding to levels -s .. s, where level s is the largest magnitude of the group of elements.
struct Codes {
  Codes(const KernelInput& given, int bits)
      : input(given),
        codec{(1 << (bits - 1)) - 1},
        plan(Layout::flat(given.count()), group, bits, kernels::LinearCodec::words),
        out("gradcomp::bench::codes", static_cast<std::size_t>(plan.bytes())) {
    const auto a = input.host();
    scales.resize(static_cast<std::size_t>(plan.scale_count()));
    for (std::size_t i = 0; i < a.size(); ++i) scales[i / group] = std::max(scales[i / group], std::abs(a[i]));
    for (float& scale : scales) scale = kernels::bounded_norm(scale, scale);
    const Span<float> section(reinterpret_cast<float*>(out.data()), scales.size());
    Kokkos::deep_copy(input.exec, section, HostSpan<const float>(scales.data(), scales.size()));
    encode();
  }
  void encode() const {
    const auto* const own = reinterpret_cast<const float*>(out.data());
    kernels::encode_codes(input.exec, plan, codec, input.source(), {.seed = input.seed}, own, true, Mark(), out.data());
  }
  double bits_share() const { return plan.bits / 32.0; }

  /// The decoded value of element i, by the layout that bit_pack.hpp describes.
  double decoded(const std::vector<std::byte>& bytes, index_t i) const {
    const kernels::CodeBlock block(plan.bits);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(bytes.data()) + plan.scale_count();
    std::uint64_t code = 0;
    for (int bit = 0; bit < plan.bits; ++bit) {
      std::uint32_t value = 0;
      if (i < block.whole(input.count())) {
        const index_t at = i % block.codes() / 32 * plan.bits + bit;  // in the bit string of lane i % 32
        value = words[i / block.codes() * 32 * block.words + at / 32 * 32 + i % 32] >> (at % 32) & 1u;
      } else {
        const index_t at = (i - block.whole(input.count())) * plan.bits + bit;
        const auto* const tail = reinterpret_cast<const std::uint8_t*>(words + plan.words);
        value = tail[at / 8] >> (at % 8) & 1u;
      }
      code |= static_cast<std::uint64_t>(value) << bit;
    }
    const double level = static_cast<double>((code + 1) / 2) * (code % 2 == 1 ? -1 : 1);
    return level * static_cast<double>(scales[static_cast<std::size_t>(i / group)]) / codec.levels;
  }

  KernelInput input;
  kernels::LinearCodec codec;
  kernels::CodePlan plan;
  Vector<std::byte> out;
  std::vector<float> scales;
};

/// The check: every element decodes to one of the two levels around it.
Kernel encode(const KernelInput& input, int bits) {
  const auto codes = std::make_shared<const Codes>(input, bits);
  const auto check = [=] {
    const auto a = input.host();
    const auto bytes = to_host(input.exec, codes->out);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double step = static_cast<double>(codes->scales[i / group]) / codes->codec.levels;
      require_close("element", static_cast<index_t>(i), codes->decoded(bytes, static_cast<index_t>(i)), a[i],
                    1.001 * step);
    }
  };
  return {1 + codes->bits_share(), [=] { codes->encode(); }, check, {}};
}

Kernel decode(const KernelInput& input, int bits) {
  const auto codes = std::make_shared<const Codes>(input, bits);
  const Vector<float> out("gradcomp::bench::out", input.gradient.size());
  const auto faults = std::make_shared<Faults>();
  const Admission admission{.faults = faults->counts()};
  const auto work = [=] {
    kernels::decode_codes(input.exec, codes->plan, codes->codec, codes->out.data(), weight, admission, out);
  };
  const auto check = [=] {
    const auto got = to_host(input.exec, out);
    const auto bytes = to_host(input.exec, codes->out);
    faults->fetch(input.exec);
    require(!faults->diverged(), "wrong answer: the codes were refused");
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double expected = weight * codes->decoded(bytes, static_cast<index_t>(i));
      require_close("element", static_cast<index_t>(i), got[i], expected, 1e-6 * std::abs(expected));
    }
  };
  return {2 + codes->bits_share(), work, check, [=] { Kokkos::deep_copy(input.exec, out, 0.0f); }};
}

}  // namespace

std::vector<NamedKernel> code_kernels() {
  std::vector<NamedKernel> all;
  for (const int bits : {2, 4, 8}) {
    all.push_back({fmt::format("encode_codes_{}", bits), 16, [=](const auto& input) { return encode(input, bits); }});
    all.push_back({fmt::format("decode_codes_{}", bits), 24, [=](const auto& input) { return decode(input, bits); }});
  }
  return all;
}

}  // namespace gradcomp::bench
