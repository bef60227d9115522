// Kernels of sign methods: writing one bit per element, and adding the decoded signs.
#include <memory>

#include "gradcomp/kernels/pack/signs.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr float add_weight = 0.5f;

using Words = Vector<std::uint32_t>;

/// The arrays of both sign kernels, with the words already written.
struct Signs {
  explicit Signs(const KernelInput& input)
      : pieces({{0, input.count()}}), words("gradcomp::bench::words", static_cast<std::size_t>(pieces.words())) {
    write(input);
  }
  void write(const KernelInput& input) const {
    kernels::write_signs(input.exec, pieces, kernels::FirstRows{input.source()}, kernels::SignLevels{}, Mark(),
                         words.data());
  }
  kernels::SignPieces pieces;
  Words words;
};

/// The bit of element i of n, by the layout that signs.hpp describes: vertical in whole blocks of 1024, horizontal
/// behind them.
bool sign_bit(const std::vector<std::uint32_t>& words, std::size_t i, std::size_t n) {
  if (i >= n / 1024 * 1024) return (words[i / 32] >> (i % 32) & 1u) != 0;
  return (words[i / 1024 * 32 + i % 32] >> (i % 1024 / 32) & 1u) != 0;
}

Kernel write_signs(const KernelInput& input) {
  const auto signs = std::make_shared<const Signs>(input);
  const auto check = [=] {
    const auto a = input.host();
    const auto words = to_host(input.exec, signs->words);
    for (std::size_t i = 0; i < a.size(); ++i)
      require(sign_bit(words, i, a.size()) == (a[i] < 0), "wrong answer: the sign of element {}", i);
  };
  return {1 + 1.0 / 32, [=] { signs->write(input); }, check, {}};
}

Kernel add_signs(const KernelInput& input) {
  const auto signs = std::make_shared<const Signs>(input);
  const Vector<float> out("gradcomp::bench::out", input.gradient.size());
  const auto faults = std::make_shared<Faults>();
  const Admission admission{.faults = faults->counts()};
  const auto work = [=] {
    kernels::add_signs(input.exec, signs->pieces, signs->words.data(), kernels::SignLevels{}, add_weight, admission,
                       true, out);
  };
  const auto check = [=] {
    const auto a = input.host(), got = to_host(input.exec, out);
    faults->fetch(input.exec);
    require(!faults->diverged(), "wrong answer: the words were refused");
    for (std::size_t i = 0; i < a.size(); ++i)
      require(got[i] == (a[i] < 0 ? -add_weight : add_weight), "wrong answer: element {} is {}", i, got[i]);
  };
  return {2 + 1.0 / 32, work, check, [=] { Kokkos::deep_copy(input.exec, out, 0.0f); }};
}

}  // namespace

std::vector<NamedKernel> sign_kernels() { return {{"write_signs", 16, write_signs}, {"add_signs", 24, add_signs}}; }

}  // namespace gradcomp::bench
