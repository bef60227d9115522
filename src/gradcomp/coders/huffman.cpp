#include "gradcomp/coders/huffman.hpp"

#include <algorithm>
#include <cstring>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/lanes/teams.hpp"

namespace gradcomp::coders {
namespace {

constexpr index_t chunk_count(index_t symbols) { return (symbols + symbols_per_chunk - 1) / symbols_per_chunk; }

/// Counts the symbols in `result`. Each team first counts 32 chunks in its scratch, as in kernels/select/radix.cpp.
void count_symbols(const Exec& exec, const std::uint8_t* symbols, index_t count, const Vector<std::uint64_t>& result) {
  using Scratch = kernels::TeamArray<std::uint32_t*>;
  constexpr index_t per_group = 32 * symbols_per_chunk;
  Kokkos::deep_copy(exec, result, std::uint64_t{0});
  kernels::for_teams<kernels::lanes_are_threads ? 256 : 1>(
      "gradcomp::coders::count_symbols", exec, (count + per_group - 1) / per_group, Scratch::shmem_size(256),
      KOKKOS_LAMBDA(const kernels::Team& team) {
        const index_t begin = team.league_rank() * per_group, left = count - begin;
        const Scratch counts(team.team_scratch(0), 256);
        kernels::for_each_of_team(team, 256, [&](int b) { counts(b) = 0; });
        team.team_barrier();
        const auto size = static_cast<int>(left < per_group ? left : per_group);
        kernels::for_each_of_team(team, size, [&](int i) {
          std::uint32_t& symbol = counts(symbols[begin + i]);  // outside of the branch, as nvcc demands of a capture
          if constexpr (kernels::lanes_are_threads) {
            Kokkos::atomic_inc(&symbol);
          } else {
            ++symbol;
          }
        });
        team.team_barrier();
        kernels::for_each_of_team(team, 256, [&](int b) {
          if (counts(b) != 0) Kokkos::atomic_add(&result(b), static_cast<std::uint64_t>(counts(b)));
        });
      });
}

/// ends[c] = the number of words of chunks 0 .. c. Returns the number of words of all chunks. Waits for exec.
index_t place_chunks(const Exec& exec, const std::uint8_t* symbols, index_t count, const Vector<std::uint32_t>& codes,
                     std::uint32_t* ends) {
  index_t total = 0;
  Kokkos::parallel_for(
      "gradcomp::coders::chunk_words", IndexRange(exec, 0, chunk_count(count)), KOKKOS_LAMBDA(index_t c) {
        const index_t begin = c * symbols_per_chunk, left = count - begin;
        const index_t size = left < symbols_per_chunk ? left : symbols_per_chunk;
        std::uint32_t bits = 0;
        for (index_t i = begin; i < begin + size; ++i) bits += codes(symbols[i]) >> 16;
        ends[c] = (bits + 31) / 32;
      });
  Kokkos::parallel_scan(
      "gradcomp::coders::chunk_ends", IndexRange(exec, 0, chunk_count(count)),
      KOKKOS_LAMBDA(index_t c, index_t & sum, bool last) {
        sum += ends[c];
        if (last) ends[c] = static_cast<std::uint32_t>(sum);
      },
      total);
  wait(exec, "gradcomp::coders::chunk_ends");
  return total;
}

void write_codes(const Exec& exec, const std::uint8_t* symbols, index_t count, const Vector<std::uint32_t>& codes,
                 const std::uint32_t* ends, std::uint32_t* words) {
  Kokkos::parallel_for(
      "gradcomp::coders::write_huffman", IndexRange(exec, 0, chunk_count(count)), KOKKOS_LAMBDA(index_t c) {
        const index_t begin = c * symbols_per_chunk, left = count - begin;
        const index_t size = left < symbols_per_chunk ? left : symbols_per_chunk;
        std::uint32_t* out = words + (c == 0 ? 0 : ends[c - 1]);
        std::uint64_t window = 0;
        std::uint32_t held = 0;
        for (index_t i = begin; i < begin + size; ++i) {
          const std::uint32_t code = codes(symbols[i]);
          window |= static_cast<std::uint64_t>(code & 0xffffu) << held;
          held += code >> 16;
          if (held < 32) continue;
          *out++ = static_cast<std::uint32_t>(window);
          window >>= 32;
          held -= 32;
        }
        if (held > 0) *out = static_cast<std::uint32_t>(window);
      });
}

/// Decodes all chunks, and returns how many an encoder cannot have written: the end is out of order or range, bits are
/// no code, there are too few or too many bits, or bits behind the last code are not zero. `max_length` = log2 of the
/// number of table entries. Waits for exec.
index_t read_codes(const Exec& exec, const Vector<std::uint16_t>& table, int max_length, const std::uint32_t* ends,
                   const std::uint32_t* words, index_t word_count, index_t count, std::uint8_t* symbols) {
  index_t bad = 0;
  const std::uint64_t mask = (std::uint64_t{1} << max_length) - 1;
  const index_t chunks = chunk_count(count);
  Kokkos::parallel_reduce(
      "gradcomp::coders::read_huffman", IndexRange(exec, 0, chunks),
      KOKKOS_LAMBDA(index_t c, index_t & sum) {
        const index_t begin = c * symbols_per_chunk, left = count - begin;
        const index_t size = left < symbols_per_chunk ? left : symbols_per_chunk;
        index_t word = c == 0 ? 0 : ends[c - 1];
        const index_t end = ends[c];
        bool good = word < end && end <= word_count && (c + 1 < chunks || end == word_count);
        std::uint64_t window = 0;
        std::uint32_t held = 0;
        for (index_t i = begin; good && i < begin + size; ++i) {
          if (held < 32 && word < end) {
            window |= static_cast<std::uint64_t>(words[word++]) << held;
            held += 32;
          }
          const std::uint32_t entry = table(window & mask), length = entry >> 8;
          good = length > 0 && length <= held;
          window >>= length;
          held -= length;
          symbols[i] = static_cast<std::uint8_t>(entry & 0xffu);
        }
        sum += good && word == end && held < 32 && window == 0 ? 0 : 1;
      },
      bad);
  wait(exec, "gradcomp::coders::read_huffman");
  return bad;
}

/// Fills the entries of all codes. Returns log2 of the number of entries.
int fill_table(const CodeLengths& lengths, std::vector<std::uint16_t>& table) {
  const auto codes = reversed_codes(lengths);
  const int max_length = *std::max_element(lengths.begin(), lengths.end());
  std::fill_n(table.begin(), std::size_t{1} << max_length, std::uint16_t{0});  // a single code fills only half of them
  for (std::size_t s = 0; s < 256; ++s) {
    if (lengths[s] == 0) continue;
    const auto entry = static_cast<std::uint16_t>(s | static_cast<std::size_t>(lengths[s]) << 8);
    for (std::size_t i = codes[s]; i < std::size_t{1} << max_length; i += std::size_t{1} << lengths[s])
      table[i] = entry;
  }
  return max_length;
}

}  // namespace

HuffmanCoder::HuffmanCoder(index_t capacity)
    : m_capacity(capacity),
      m_histogram("gradcomp::coders::huffman_histogram", 256),
      m_codes("gradcomp::coders::huffman_codes", 256),
      m_table("gradcomp::coders::huffman_table", std::size_t{1} << longest_code),
      m_host_table(m_table.size()) {}

index_t HuffmanCoder::bytes() const {
  return static_cast<index_t>(8 * m_histogram.size() + 4 * m_codes.size() + 2 * m_table.size());
}

index_t HuffmanCoder::encode(const Exec& exec, const std::byte* symbols, index_t count, std::byte* out) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(symbols);
  const index_t fixed = huffman_head_bytes + 4 * chunk_count(count);
  if (fixed >= count) return 0;
  count_symbols(exec, bytes, count, m_histogram);
  read_back(exec, Span<const std::uint64_t>(m_histogram), m_counts.data(), "gradcomp::coders::huffman_histogram");
  const CodeLengths lengths = code_lengths(m_counts);
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < 256; ++s) bits += m_counts[s] * lengths[s];
  if (fixed + static_cast<index_t>(bits / 8) >= count) return 0;

  m_host_codes = reversed_codes(lengths);
  for (std::size_t s = 0; s < 256; ++s) m_host_codes[s] |= static_cast<std::uint32_t>(lengths[s]) << 16;
  Kokkos::deep_copy(exec, m_codes, HostSpan<std::uint32_t>(m_host_codes.data(), m_host_codes.size()));
  auto* const ends = reinterpret_cast<std::uint32_t*>(out + huffman_head_bytes);
  const index_t words = place_chunks(exec, bytes, count, m_codes, ends);
  if (fixed + 4 * words >= count || words > 0xffffffff) return 0;
  write_codes(exec, bytes, count, m_codes, ends, ends + chunk_count(count));

  const auto number = static_cast<std::uint64_t>(count);
  std::memcpy(m_head.data(), &number, sizeof(number));
  for (std::size_t i = 0; i < 128; ++i)
    m_head[8 + i] = static_cast<std::uint8_t>(lengths[2 * i] | lengths[2 * i + 1] << 4);
  Kokkos::deep_copy(exec, Span<std::uint8_t>(reinterpret_cast<std::uint8_t*>(out), m_head.size()),
                    HostSpan<std::uint8_t>(m_head.data(), m_head.size()));
  wait(exec, "gradcomp::coders::huffman_head");
  return fixed + 4 * words;
}

index_t HuffmanCoder::decode(const Exec& exec, const Span<const std::byte>& section, std::byte* symbols) {
  const auto size = static_cast<index_t>(section.size());
  require(size > huffman_head_bytes && size % 4 == 0,
          "payload: {} bytes of Huffman codes; allowed: a multiple of 4 above {}", size, huffman_head_bytes);
  read_back(exec, Span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(section.data()), m_head.size()),
            m_head.data(), "gradcomp::coders::huffman_head");
  std::uint64_t number = 0;
  std::memcpy(&number, m_head.data(), sizeof(number));
  require(number > 0 && number <= static_cast<std::uint64_t>(m_capacity),
          "payload: {} bytes in Huffman codes, at most {} are possible", number, m_capacity);
  const auto count = static_cast<index_t>(number);
  const index_t words = (size - huffman_head_bytes) / 4 - chunk_count(count);
  require(words > 0, "payload: {} bytes are too few for the Huffman codes of {}", size, count);
  CodeLengths lengths{};
  for (std::size_t s = 0; s < 256; ++s) lengths[s] = m_head[8 + s / 2] >> (4 * (s % 2)) & 0xf;
  require(is_code(lengths), "payload: the code lengths are not those of a complete Huffman code");
  const int max_length = fill_table(lengths, m_host_table);
  const std::size_t entries = std::size_t{1} << max_length;
  Kokkos::deep_copy(exec, Span<std::uint16_t>(m_table.data(), entries),
                    HostSpan<std::uint16_t>(m_host_table.data(), entries));
  const auto* const ends = reinterpret_cast<const std::uint32_t*>(section.data() + huffman_head_bytes);
  const index_t bad = read_codes(exec, m_table, max_length, ends, ends + chunk_count(count), words, count,
                                 reinterpret_cast<std::uint8_t*>(symbols));
  require(bad == 0, "payload: {} of {} chunks of Huffman codes are damaged", bad, chunk_count(count));
  return count;
}

}  // namespace gradcomp::coders
