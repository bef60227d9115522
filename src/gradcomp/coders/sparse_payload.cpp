#include "gradcomp/coders/sparse_payload.hpp"

#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::coders {
namespace {

constexpr int index_shift = 8, value_shift = 12;
constexpr std::uint32_t known_flags = PayloadHeader::flag_diverged | 0xfu << index_shift | 0xfu << value_shift;

/// Whether the coder of every message works in place.
bool is_in_place(const IndexChoice& choice) { return !choice.automatic && choice.coder->in_place; }

template <class T>
Vector<T> scratch(const std::string& label, index_t count) {
  return Vector<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(count));
}

template <class Byte>
void check_alignment(const Span<Byte>& payload) {
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
          "payload: starts at an address that is no multiple of {}", alignof(float));
}

void check_elements(const Span<float>& out, const PayloadHeader& expected) {
  require(static_cast<std::uint64_t>(out.size()) == expected.elements, "payload: decoded to {} elements, expected {}",
          out.size(), expected.elements);
}

}  // namespace

std::vector<Parameter> sparse_coding_parameters() {
  return {Parameter::choice("index", "u32", index_choice_names(),
                            "coder of the kept indices; auto: the shortest for the entries of a message")
              .as_shared(),
          Parameter::choice("values", "f32", value_coder_list().names(), "coder of the kept values").as_shared()};
}

SparseCoding sparse_coding(const ParameterValues& options) {
  return {index_choice(options.text("index")), &find_value_coder(options.text("values"))};
}

SparseCoder::SparseCoder(const SparseCoding& coding, index_t elements, index_t capacity)
    : m_coding(coding), m_index(coding.index, elements, capacity) {
  if (!is_in_place(coding.index)) m_indices = scratch<std::uint32_t>("gradcomp::coders::indices", capacity);
  if (!coding.values->in_place || !coding.index.has_fixed_size())
    m_values = scratch<float>("gradcomp::coders::values", capacity);
}

index_t SparseCoder::payload_capacity(const SparseCoding& coding, index_t elements, index_t capacity) {
  return payload_header_bytes + index_capacity_bytes(coding.index, elements, capacity) + coding.values->bytes(capacity);
}

SparseTarget SparseCoder::target(const Span<std::byte>& payload, index_t kept) const {
  std::byte* const sections = payload.data() + payload_header_bytes;
  SparseTarget target{m_indices.data(), m_values.data()};
  if (m_indices.data() == nullptr) target.indices = reinterpret_cast<std::uint32_t*>(sections);
  if (m_values.data() == nullptr)
    target.values = reinterpret_cast<float*>(sections + index_bytes(*m_coding.index.coder, m_index.elements(), kept));
  return target;
}

index_t SparseCoder::encode(const Exec& exec, PayloadHeader header, const std::uint32_t* indices, float* values,
                            index_t kept, const Span<std::byte>& payload) const {
  require(static_cast<index_t>(payload.size()) >= payload_capacity(), "payload: room for {} bytes, {} may be needed",
          payload.size(), payload_capacity());
  check_alignment(payload);
  std::byte* const sections = payload.data() + payload_header_bytes;
  const Encoded encoded = m_index.encode(exec, indices, kept, sections);
  m_coding.values->encode(exec, values, kept, sections + encoded.bytes, values);
  header.kept = static_cast<std::uint64_t>(kept);
  header.flags |= encoded.coder->id << index_shift | m_coding.values->id << value_shift;
  write_header(exec, header, payload);
  return payload_header_bytes + encoded.bytes + m_coding.values->bytes(kept);
}

bool SparseCoder::in_place() const { return is_in_place(m_coding.index) && m_coding.values->in_place; }

/// Reads the entries, whose header the host has seen.
SparseView SparseCoder::decode(const Exec& exec, const Span<const std::byte>& payload,
                               const PayloadHeader& header) const {
  SparseView view;
  require(header.kept <= static_cast<std::uint64_t>(m_index.capacity()), "payload: {} entries, at most {} are possible",
          header.kept, m_index.capacity());
  view.kept = static_cast<index_t>(header.kept);
  const IndexCoderEntry& index = index_coder_list().with_id(header.flags >> index_shift & 0xf);
  const ValueCoderEntry& values = value_coder_list().with_id(header.flags >> value_shift & 0xf);
  require(view.kept == 0 || &values == m_coding.values, "payload: values in {}, expected {}", values.name,
          m_coding.values->name);
  require(view.kept == 0 || m_coding.index.admits(index), "payload: indices in {}, expected {}", index.name,
          m_coding.index.coder->name);
  const auto size = static_cast<index_t>(payload.size()) - payload_header_bytes;
  const index_t value_size = values.bytes(view.kept), index_size = size - value_size;
  require(index_size >= 0 && (index.has_fixed_size() ? index_size == index_bytes(index, m_index.elements(), view.kept)
                                                     : index_size <= m_index.capacity_bytes()),
          "payload: {} bytes are wrong for {} entries in {} and {}", payload.size(), view.kept, index.name,
          values.name);
  check_alignment(payload);

  const auto index_section = subspan(payload, payload_header_bytes, index_size);
  const auto value_section = subspan(payload, payload_header_bytes + index_size, value_size);
  view.indices = m_index.decode(exec, index, index_section, view.kept, m_indices.data());
  view.values = decode_values(exec, values, value_section, view.kept, m_values.data());
  return view;
}

void SparseCoder::decode_add(const Exec& exec, const Received& received, const PayloadHeader& expected,
                             const std::string& method, const Span<float>& out) const {
  const Span<const std::byte>& payload = received.bytes;
  check_elements(out, expected);
  if (in_place()) return add_in_place(exec, {&received, 1}, expected, false, out);
  const PayloadHeader header = read_header(exec, payload, expected, known_flags);
  if (header.diverged()) return take_flag(exec, received, method, out);
  const SparseView entries = decode(exec, payload, header);
  kernels::scatter_add(exec, entries.indices, entries.values, entries.kept, received.weight, out);
}

/// The length of the payload says how many entries it has; the kernel checks the header and the entries.
kernels::SparseMessage SparseCoder::message(const Received& received) const {
  const auto size = static_cast<index_t>(received.bytes.size()) - payload_header_bytes;
  require(size >= 0 && size % 8 == 0 && size / 8 <= m_index.capacity(),
          "payload: {} bytes are no header with 0 to {} entries of 8 bytes", received.bytes.size(), m_index.capacity());
  check_alignment(received.bytes);
  return {reinterpret_cast<const std::uint32_t*>(received.bytes.data()), size / 8, received.weight};
}

void SparseCoder::add_in_place(const Exec& exec, std::span<const Received> received, PayloadHeader expected,
                               bool from_zero, const Span<float>& out) const {
  expected.flags = m_coding.index.coder->id << index_shift | m_coding.values->id << value_shift;
  do {
    kernels::SparseMessages messages;
    messages.expected = expected;
    for (; !received.empty() && messages.count < kernels::messages_together; received = received.subspan(1)) {
      messages.faults = received[0].faults;
      messages.message[messages.count++] = message(received[0]);
    }
    kernels::sum_messages(exec, messages, from_zero, out);
    from_zero = false;
  } while (!received.empty());
}

void SparseCoder::decode_sum(const Exec& exec, std::span<const Received> messages, const PayloadHeader& expected,
                             const Span<float>& out) const {
  check_elements(out, expected);
  add_in_place(exec, messages, expected, true, out);
}

index_t SparseCoder::bytes() const {
  return m_index.bytes() + static_cast<index_t>(m_indices.size() + m_values.size()) * 4;
}

}  // namespace gradcomp::coders
