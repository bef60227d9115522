#include "gradcomp/kernels/quantise/quantise.hpp"

#include <algorithm>

#include "gradcomp/kernels/lanes/add_count.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/quantise/quantise_lanes.hpp"

namespace gradcomp::kernels {
namespace {

/// All three are powers of two: a piece is whole in buckets, blocks and draws, and only the last one holds a tail.
index_t piece_size(const QuantiseSpec& spec, const CodeBlock& block) {
  return std::max<index_t>({spec.bucket, block.codes(), tile_size});
}

}  // namespace

int QuantiseSpec::bits() const {
  int bits = 1;
  while ((1 << bits) < 2 * levels + 1) ++bits;
  return bits;
}

QuantisePlan::QuantisePlan(const Layout& layout, const QuantiseSpec& spec) : m_spec(spec) {
  const CodeBlock block(spec.bits());
  const index_t most = piece_size(spec, block);
  std::vector<Piece> pieces;
  std::vector<Tail> tails;
  index_t tail_codes = 0;
  for (const auto& segment : layout.segments) {
    const index_t whole = block.whole(segment.count);
    for (index_t e = 0; e < segment.count; e += most) {
      const index_t count = std::min(most, segment.count - e);
      const index_t inside = std::clamp<index_t>(whole - e, 0, count);
      pieces.push_back({segment.offset + e, e, segment.id, m_norms + e / spec.bucket, m_words + block.word_count(e),
                        tail_codes, m_tail_bytes, static_cast<std::int32_t>(count), static_cast<std::int32_t>(inside)});
    }
    if (segment.count > whole) tails.push_back({tail_codes, segment.count - whole, m_tail_bytes});
    m_norms += (segment.count + spec.bucket - 1) / spec.bucket;
    m_words += block.word_count(segment.count);
    m_tail_bytes += block.tail_bytes(segment.count);
    tail_codes += segment.count - whole;
  }
  m_pieces = m_piece_room = upload("gradcomp::kernels::quantise_pieces", pieces);
  const auto tail_count = static_cast<index_t>(tails.size());
  if (tails.empty()) tails.push_back({0, 0, 0});  // resize() may need one
  m_tail_room = upload("gradcomp::kernels::quantise_tails", tails);
  m_tails = first_of(m_tail_room, tail_count);
  m_tail_codes = Vector<std::uint8_t>("gradcomp::kernels::quantise_tail_codes",
                                      static_cast<std::size_t>(std::max(tail_codes, block.codes())));
}

void QuantisePlan::resize(const Exec& exec, index_t count) {
  const CodeBlock block(m_spec.bits());
  const index_t most = piece_size(m_spec, block), whole = block.whole(count);
  m_norms = (count + m_spec.bucket - 1) / m_spec.bucket;
  m_words = block.word_count(count);
  m_tail_bytes = block.tail_bytes(count);
  m_pieces = first_of(m_piece_room, (count + most - 1) / most);
  m_tails = first_of(m_tail_room, count > whole ? 1 : 0);
  const auto pieces = m_pieces;
  const auto tails = m_tails;
  Kokkos::parallel_for(
      "gradcomp::kernels::fit_quantise", IndexRange(exec, 0, static_cast<index_t>(pieces.size())),
      KOKKOS_LAMBDA(const index_t p) {
        const index_t left = count - p * most, size = left < most ? left : most, inside = whole - p * most;
        pieces(p).count = static_cast<std::int32_t>(size);
        pieces(p).whole = static_cast<std::int32_t>(inside < size ? inside > 0 ? inside : 0 : size);
        if (p == 0 && tails.size() > 0) tails(0) = {0, count - whole, 0};
      });
}

index_t QuantisePlan::scratch_bytes() const {
  return static_cast<index_t>(m_piece_room.size() * sizeof(Piece) + m_tail_room.size() * sizeof(Tail) +
                              m_tail_codes.size());
}

void QuantisePlan::encode(const Exec& exec, const Source& source, const QuantiseStream& stream, float shrink,
                          const Tally& found, std::byte* out) const {
  auto* const norms = reinterpret_cast<float*>(out);
  auto* const words = reinterpret_cast<std::uint32_t*>(out + 4 * m_norms);
  auto* const tail_bytes = reinterpret_cast<std::uint8_t*>(out + 4 * (m_norms + m_words));
  const auto pieces = m_pieces;
  const auto tails = m_tails;
  const auto tail_codes = m_tail_codes;
  const auto non_finite = found.count();
  const auto spec = m_spec;
  const int bits = m_spec.bits();
  for_warps(
      "gradcomp::kernels::quantise_encode", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const Piece piece = pieces(p);
        const Array4 key = stream_key(stream.seed, piece.segment_id, stream.step, stream.rank);
        const index_t unit = spec.bucket > draw_elements ? spec.bucket : draw_elements;
        RowPacker packer{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t at = 0; at < piece.count; at += unit) {
          const index_t end = at + unit < piece.count ? at + unit : piece.count;
          RowSteps steps(spec.bucket);
          for (index_t b = at, i = 0; b < end; b += spec.bucket, ++i) {
            const index_t size = b + spec.bucket < end ? spec.bucket : end - b;
            const float norm = bucket_norm(warp, source, piece.first + b, size, spec.max_norm, bad);
            const float sent = norm * shrink;
            steps.set(static_cast<int>(i), norm / static_cast<float>(spec.levels));
            steps.step[i] = sent / static_cast<float>(spec.levels);
            warp.once([&] { norms[piece.norm + b / spec.bucket] = sent; });
          }
          for (index_t group = at; group < end; group += draw_elements) {
            Lanes<std::uint32_t> code[draw_rows];
            const index_t size = group + draw_elements < end ? draw_elements : end - group;
            round_group(warp, source.accumulated() + piece.first + group, size, steps, spec.levels, key,
                        piece.element + group, code);
            leave_group(warp, source, piece.first + group, size, steps, code);
            for (int row = 0; row < draw_rows; ++row) {
              const index_t e = group + row * warp_lanes;
              if (e < piece.whole) {
                packer.push(warp, code[row]);
              } else {
                warp.each([&](int l) {
                  if (e + l < end)
                    tail_codes(piece.tail_code + e + l - piece.whole) = static_cast<std::uint8_t>(code[row][l]);
                });
              }
            }
          }
        }
        add_count(warp, bad, non_finite);
      });
  for_warps(
      "gradcomp::kernels::quantise_tails", exec, static_cast<index_t>(tails.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tail tail = tails(t);
        warp.each([&](int l) {
          for (index_t j = l; j < (tail.count * bits + 7) / 8; j += warp_lanes)
            tail_bytes[tail.byte + j] = tail_byte(tail_codes.data() + tail.code, tail.count, bits, j);
        });
      });
}

void QuantisePlan::decode_add(const Exec& exec, const std::byte* in, float weight, const Gate& gate, const Tally& found,
                              const Span<float>& out) const {
  const auto* const norms = reinterpret_cast<const float*>(in);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in + 4 * m_norms);
  const auto* const tail_bytes = reinterpret_cast<const std::uint8_t*>(in + 4 * (m_norms + m_words));
  const auto pieces = m_pieces;
  const auto bad_codes = found.count();
  const auto spec = m_spec;
  const int bits = m_spec.bits();
  for_warps(
      "gradcomp::kernels::quantise_decode", exec, static_cast<index_t>(pieces.size()), gate,
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const Piece piece = pieces(p);
        const std::uint32_t most = 2u * static_cast<std::uint32_t>(spec.levels);
        RowUnpacker unpacker{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t b = 0; b < piece.count; b += spec.bucket) {
          const index_t end = b + spec.bucket < piece.count ? b + spec.bucket : piece.count;
          const float norm = norms[piece.norm + b / spec.bucket];
          const bool good = norm >= 0 && norm <= largest_norm;
          const float step = norm / static_cast<float>(spec.levels);
          warp.each([&](int l) { bad[l] += good ? 0 : 1; });
          index_t e = b;
          for (; e + draw_elements <= end && e + draw_elements <= piece.whole; e += draw_elements) {
            float* const target = out.data() + piece.first + e;
            unpack_rows(warp, unpacker, [&](int l, std::uint32_t code, int row) {
              bad[l] += code > most ? 1 : 0;
              target[row * warp_lanes + l] += weight * decoded_value(code, step);
            });
          }
          for (; e < end; e += warp_lanes) {
            Lanes<std::uint32_t> code;
            float* const target = out.data() + piece.first + e;
            if (e < piece.whole) {
              unpacker.pull(warp, code);
              warp.each([&](int l) {
                bad[l] += code[l] > most ? 1 : 0;
                target[l] += weight * decoded_value(code[l], step);
              });
            } else {
              const std::uint8_t* const bytes = tail_bytes + piece.tail_byte;
              warp.each([&](int l) {
                if (e + l >= end) return;
                const std::uint32_t last = tail_code(bytes, bits, e + l - piece.whole);
                bad[l] += last > most ? 1 : 0;
                target[l] += weight * decoded_value(last, step);
              });
            }
          }
        }
        add_count(warp, bad, bad_codes);
      });
}

}  // namespace gradcomp::kernels
