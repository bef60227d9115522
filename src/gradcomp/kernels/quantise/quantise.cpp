#include "gradcomp/kernels/quantise/quantise.hpp"

#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/quantise/quantise_lanes.hpp"

namespace gradcomp::kernels {

int QuantiseSpec::bits() const {
  int bits = 1;
  while ((1 << bits) < 2 * levels + 1) ++bits;
  return bits;
}

QuantisePlan::QuantisePlan(const Layout& layout, const QuantiseSpec& spec)
    : m_spec(spec),
      m_cut(layout, spec.group, spec.bits()),
      m_tail_codes("gradcomp::kernels::quantise_tail_codes", static_cast<std::size_t>(m_cut.tail_room)) {}

index_t QuantisePlan::scratch_bytes() const { return m_cut.piece_bytes() + static_cast<index_t>(m_tail_codes.size()); }

void QuantisePlan::encode(const Exec& exec, const Source& source, const QuantiseStream& stream, float shrink,
                          const Mark& mark, std::byte* out) const {
  auto* const norms = reinterpret_cast<float*>(out);
  auto* const words = reinterpret_cast<std::uint32_t*>(out + 4 * m_cut.groups);
  auto* const tail_bytes = reinterpret_cast<std::uint8_t*>(out + 4 * (m_cut.groups + m_cut.words));
  const auto pieces = m_cut.pieces;
  const auto tail_codes = m_tail_codes;
  const auto spec = m_spec;
  const int bits = m_spec.bits();
  for_warps(
      "gradcomp::kernels::quantise_encode", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePieces::Piece piece = pieces(p);
        const Array4 key = stream_key(stream.seed, piece.segment_id, stream.step, stream.rank);
        const index_t unit = spec.group > draw_elements ? spec.group : draw_elements;
        RowPacker packer{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t at = 0; at < piece.count; at += unit) {
          const index_t end = at + unit < piece.count ? at + unit : piece.count;
          RowSteps steps(spec.group);
          for (index_t b = at, i = 0; b < end; b += spec.group, ++i) {
            const index_t size = b + spec.group < end ? spec.group : end - b;
            const float norm = group_norm(warp, source, piece.first + b, size, spec.max_norm, bad);
            const float sent = norm * shrink;
            steps.set(static_cast<int>(i), norm / static_cast<float>(spec.levels),
                      sent / static_cast<float>(spec.levels));
            warp.once([&] { norms[piece.group + b / spec.group] = sent; });
          }
          for (index_t start = at; start < end; start += draw_elements) {
            Lanes<std::uint32_t> code[draw_rows];
            const index_t size = start + draw_elements < end ? draw_elements : end - start;
            round_group(warp, source.accumulated() + piece.first + start, size, steps, spec.levels, key,
                        piece.element + start, code);
            leave_group(warp, source, piece.first + start, size, steps, code);
            GRADCOMP_UNROLL
            for (int row = 0; row < draw_rows; ++row) {
              const index_t e = start + row * warp_lanes;
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
        note_bad(warp, bad, mark);
      });
  pack_tails(exec, m_cut, tail_codes, tail_bytes);
}

void QuantisePlan::decode_add(const Exec& exec, const std::byte* in, float weight, const Admission& admission,
                              const Span<float>& out) const {
  const auto* const norms = reinterpret_cast<const float*>(in);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(in + 4 * m_cut.groups);
  const auto* const tail_bytes = reinterpret_cast<const std::uint8_t*>(in + 4 * (m_cut.groups + m_cut.words));
  const auto pieces = m_cut.pieces;
  const auto spec = m_spec;
  const int bits = m_spec.bits();
  for_warps(
      "gradcomp::kernels::quantise_decode", exec, static_cast<index_t>(pieces.size()),
      KOKKOS_LAMBDA(const Warp& warp, index_t p) {
        const CodePieces::Piece piece = pieces(p);
        if (!may_add(warp, admission, p == 0, out.data() + piece.first, piece.count)) return;
        const std::uint32_t most = 2u * static_cast<std::uint32_t>(spec.levels);
        RowUnpacker unpacker{words + piece.word, bits};
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        for (index_t b = 0; b < piece.count; b += spec.group) {
          const index_t end = b + spec.group < piece.count ? b + spec.group : piece.count;
          const float norm = norms[piece.group + b / spec.group];
          const bool good = norm >= 0 && norm <= largest_norm;
          const float step = norm / static_cast<float>(spec.levels);
          warp.each([&](int l) { bad[l] += good ? 0 : 1; });
          index_t e = b;
          for (; e + draw_elements <= end && e + draw_elements <= piece.whole; e += draw_elements) {
            float* const target = out.data() + piece.first + e;
            prefetch_rows<draw_rows>(target);
            unpack_rows(warp, unpacker, [&](int l, std::uint32_t code, int row) {
              bad[l] += code > most ? 1 : 0;
              float& sum = target[row * warp_lanes + l];
              sum = admission.before(sum) + weight * decoded_value(code, step);
            });
          }
          for (; e < end; e += warp_lanes) {
            Lanes<std::uint32_t> code;
            float* const target = out.data() + piece.first + e;
            if (e < piece.whole) {
              unpacker.pull(warp, code);
              warp.each([&](int l) {
                bad[l] += code[l] > most ? 1 : 0;
                target[l] = admission.before(target[l]) + weight * decoded_value(code[l], step);
              });
            } else {
              const std::uint8_t* const bytes = tail_bytes + piece.tail_byte;
              warp.each([&](int l) {
                if (e + l >= end) return;
                const std::uint32_t last = tail_code(bytes, bits, e + l - piece.whole);
                bad[l] += last > most ? 1 : 0;
                target[l] = admission.before(target[l]) + weight * decoded_value(last, step);
              });
            }
          }
        }
        note_broken(warp, bad, admission.faults);
      });
}

}  // namespace gradcomp::kernels
