#include "gradcomp/compressors/composition/entropy_stage.hpp"

#include <utility>

namespace gradcomp::compressors {
namespace {

Info staged(Info info) {
  const bool one = info.rounds.size() == 1 && info.rounds[0] == MessageKind::bytes;
  require(one,
          "{} cannot stand before +huffman, which codes one message of bytes; allowed: methods with one "
          "bytes round",
          info.name);
  info.name += "+huffman";
  info.host_sizes = true;
  info.fixed_bytes = info.can_resize = false;
  info.summary += "; Huffman-coded";
  // Reducers see only whole payloads: no entry and no bit of a coded payload can be read on its way between ranks.
  info.sparse = info.votes = false;
  if (info.reducer == "vote") info.reducer = "allgather";
  info.bytes_formula = "at most " + info.bytes_formula;
  return info;
}

}  // namespace

EntropyState::EntropyState(const Layout& bucket, std::unique_ptr<State> inner_state, index_t capacity)
    : State(bucket),
      inner(std::move(inner_state)),
      coder(capacity - payload_header_bytes),
      payload("gradcomp::compressors::entropy_stage::payload", static_cast<std::size_t>(capacity)),
      decoded("gradcomp::compressors::entropy_stage::decoded", static_cast<std::size_t>(capacity)) {
  kept = inner->kept;
  target = inner->target;
}

index_t EntropyState::scratch_bytes() const {
  return inner->scratch_bytes() + coder.bytes() + static_cast<index_t>(payload.size() + decoded.size());
}

EntropyStage::EntropyStage(std::shared_ptr<const Compressor> inner)
    : Compressor(staged(inner->info()), composed_options(composed_text(*inner) + "+huffman")),
      m_inner(std::move(inner)) {}

std::unique_ptr<State> EntropyStage::prepare(const Layout& layout) const {
  return std::make_unique<EntropyState>(layout, m_inner->prepare(layout), payload_capacity(layout));
}

Message EntropyStage::produce(const Exec& exec, int, const Step& step, State& state) const {
  auto& own = state.as<EntropyState>();
  const auto plain = payload_of(m_inner->produce(exec, 0, step, *own.inner));
  own.kept = own.inner->kept;
  own.target = own.inner->target;
  const PayloadHeader inner = read_header(exec, plain);
  PayloadHeader head = header(step.source.count, static_cast<index_t>(inner.kept));
  head.flags = inner.flags;
  index_t size = 0;
  if (!inner.diverged()) {
    const auto sections = sections_of(plain);
    std::byte* const out = own.payload.data() + payload_header_bytes;
    size = own.coder.encode(exec, sections.data(), static_cast<index_t>(sections.size()), out);
    if (size > 0) {
      head.flags |= flag_huffman;
    } else {
      size = static_cast<index_t>(sections.size());
      copy_bytes(exec, sections.data(), size, out);
    }
  }
  Message message;
  message.kind = MessageKind::bytes;
  message.payload = own.payload;
  message.size = payload_header_bytes + size;
  write_header(exec, head, message.payload);
  return message;
}

void EntropyStage::decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const {
  auto& own = state.as<EntropyState>();
  const Span<const std::byte>& payload = received.bytes;
  const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), 0), PayloadHeader::any_flags);
  if (head.flags == PayloadHeader::flag_diverged) return take_flag(exec, received, info().name, out);
  const auto sections = sections_of(payload);
  auto size = static_cast<index_t>(sections.size());
  PayloadHeader inner = m_inner->header(own.layout.count(), 0);
  inner.kept = head.kept;
  inner.flags = head.flags & ~flag_huffman;
  std::byte* const plain = own.decoded.data() + payload_header_bytes;
  if ((head.flags & flag_huffman) != 0) {
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % 4 == 0, "{}: payload is not aligned to 4 bytes",
            info().name);
    size = own.coder.decode(exec, sections, plain);
  } else {
    require(size <= static_cast<index_t>(own.decoded.size()) - payload_header_bytes,
            "{}: payload of {} bytes, expected at most {}", info().name, payload.size(), own.decoded.size());
    copy_bytes(exec, sections.data(), size, plain);
  }
  write_header(exec, inner, own.decoded);
  Received part = received;
  part.bytes = subspan(Span<const std::byte>(own.decoded), 0, payload_header_bytes + size);
  m_inner->decode_add(exec, part, *own.inner, out);
}

std::unique_ptr<Compressor> make_entropy_stage(std::shared_ptr<const Compressor> inner) {
  return std::make_unique<EntropyStage>(std::move(inner));
}

}  // namespace gradcomp::compressors
