// Finds the Huffman code of up to 256 symbols, on the host.
#include <algorithm>
#include <numeric>

#include "gradcomp/coders/huffman.hpp"

namespace gradcomp::coders {

CodeLengths code_lengths(const SymbolCounts& counts) {
  std::array<std::uint8_t, 256> order{};  // the symbols that occur, rarest first
  std::size_t n = 0;
  for (std::size_t s = 0; s < 256; ++s) {
    if (counts[s] > 0) order[n++] = static_cast<std::uint8_t>(s);
  }
  CodeLengths lengths{};
  if (n == 1) lengths[order[0]] = 1;
  if (n < 2) return lengths;
  std::sort(order.begin(), order.begin() + n,
            [&](std::uint8_t a, std::uint8_t b) { return counts[a] != counts[b] ? counts[a] < counts[b] : a < b; });
  // package-merge: each level merges, by weight, the symbols with the pairs of the level before; only is_symbol is kept
  std::array<std::array<bool, 512>, longest_code> is_symbol{};
  std::array<std::uint64_t, 512> weight{}, last{};
  std::size_t size = 0;
  for (auto& level : is_symbol) {
    std::size_t symbol = 0, pair = 0, made = 0;
    const std::size_t pairs = size / 2;
    while (symbol < n || pair < pairs) {
      const bool takes_symbol =
          pair == pairs || (symbol < n && counts[order[symbol]] <= last[2 * pair] + last[2 * pair + 1]);
      level[made] = takes_symbol;
      weight[made++] = takes_symbol ? counts[order[symbol]] : last[2 * pair] + last[2 * pair + 1];
      (takes_symbol ? symbol : pair) += 1;
    }
    size = made;
    std::swap(weight, last);
  }
  // take the cheapest 2 n - 2 items of the last level, then, level by level, the items of the pairs among those taken;
  // each time a symbol is taken, its code becomes one bit longer
  std::size_t taken = 2 * n - 2;
  for (auto level = is_symbol.rbegin(); level != is_symbol.rend(); ++level) {
    const auto symbols = static_cast<std::size_t>(std::count(level->begin(), level->begin() + taken, true));
    for (std::size_t i = 0; i < symbols; ++i) ++lengths[order[i]];
    taken = 2 * (taken - symbols);
  }
  return lengths;
}

bool is_code(const CodeLengths& lengths) {
  const auto used = 256 - std::count(lengths.begin(), lengths.end(), 0);
  const std::uint32_t sum = std::accumulate(lengths.begin(), lengths.end(), 0u, [](std::uint32_t total, int length) {
    return total + (length == 0 ? 0u : 1u << (longest_code - length));
  });
  const bool valid = *std::max_element(lengths.begin(), lengths.end()) <= longest_code;
  return valid && (used == 1 ? sum == 1u << (longest_code - 1) : used > 1 && sum == 1u << longest_code);
}

std::array<std::uint32_t, 256> reversed_codes(const CodeLengths& lengths) {
  std::array<std::uint32_t, 256> codes{};
  std::uint32_t next = 0;
  for (int length = 1; length <= longest_code; ++length, next <<= 1) {
    for (std::size_t s = 0; s < 256; ++s) {
      if (lengths[s] != length) continue;
      for (int bit = 0; bit < length; ++bit) codes[s] |= (next >> bit & 1u) << (length - 1 - bit);
      ++next;
    }
  }
  return codes;
}

}  // namespace gradcomp::coders
