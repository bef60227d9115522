#include "gradcomp/coders/sparse_payload.hpp"

#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::coders {
namespace {

constexpr int index_shift = 8, value_shift = 12;
constexpr std::uint32_t known_flags = PayloadHeader::flag_skip | 0xfu << index_shift | 0xfu << value_shift;

/// Known before the indices are coded: where the values begin.
bool has_fixed_index_section(const IndexChoice& choice) { return !choice.automatic && is_closed_form(choice.coding); }

/// Indices and values as they are in the payload.
bool is_plain(IndexCoding index, ValueCoding values) { return index == IndexCoding::u32 && values == ValueCoding::f32; }

template <class T>
Vector<T> scratch(const std::string& label, index_t count) {
  return Vector<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(count));
}

template <class Byte>
void check_alignment(const Span<Byte>& payload) {
  require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
          "payload: starts at an address that is no multiple of {}", alignof(float));
}

/// The codings that a header names, of those that exist.
void read_codings(const PayloadHeader& header, IndexCoding& index, ValueCoding& values) {
  const auto index_number = static_cast<int>(header.flags >> index_shift & 0xf);
  const auto value_number = static_cast<int>(header.flags >> value_shift & 0xf);
  require(index_number < index_codings && value_number < value_codings,
          "payload: index coding {} and value coding {}, of {} and {}", index_number, value_number, index_codings,
          value_codings);
  index = static_cast<IndexCoding>(index_number);
  values = static_cast<ValueCoding>(value_number);
}

}  // namespace

std::vector<Parameter> sparse_coding_parameters() {
  return {Parameter::choice("index", "u32", {"u32", "packed", "bitmap", "delta", "rice", "elias_fano", "auto"},
                            "coding of the kept indices; auto: the shortest coding for the entries of a message")
              .as_shared(),
          Parameter::choice("values", "f32", {"f32", "f16", "bf16", "int8"},
                            "coding of the kept values; int8: blocks of 256 with one scale")
              .as_shared()};
}

SparseCoding sparse_coding(const ParameterValues& options) {
  return {index_choice(options.text("index")), value_coding(options.text("values"))};
}

SparseCoder::SparseCoder(const SparseCoding& coding, index_t elements, index_t capacity)
    : m_coding(coding), m_index(coding.index, elements, capacity) {
  if (!(coding.index.coding == IndexCoding::u32 && !coding.index.automatic))
    m_indices = scratch<std::uint32_t>("gradcomp::coders::indices", capacity);
  if (coding.values != ValueCoding::f32 || !has_fixed_index_section(coding.index))
    m_values = scratch<float>("gradcomp::coders::values", capacity);
}

index_t SparseCoder::payload_capacity(const SparseCoding& coding, index_t elements, index_t capacity) {
  return payload_header_bytes + index_capacity_bytes(coding.index, elements, capacity) +
         value_bytes(coding.values, capacity);
}

SparseTarget SparseCoder::target(const Span<std::byte>& payload, index_t kept) const {
  std::byte* const sections = payload.data() + payload_header_bytes;
  SparseTarget target{m_indices.data(), m_values.data()};
  if (m_indices.data() == nullptr) target.indices = reinterpret_cast<std::uint32_t*>(sections);
  if (m_values.data() == nullptr)
    target.values = reinterpret_cast<float*>(sections + index_bytes(m_coding.index.coding, m_index.elements(), kept));
  return target;
}

index_t SparseCoder::encode(const Exec& exec, PayloadHeader header, const std::uint32_t* indices, float* values,
                            index_t kept, const Span<std::byte>& payload) const {
  require(static_cast<index_t>(payload.size()) >= payload_capacity(), "payload: room for {} bytes, {} may be needed",
          payload.size(), payload_capacity());
  check_alignment(payload);
  std::byte* const sections = payload.data() + payload_header_bytes;
  const Encoded encoded = m_index.encode(exec, indices, kept, sections);
  encode_values(exec, m_coding.values, values, kept, sections + encoded.bytes, values);
  header.kept = static_cast<std::uint64_t>(kept);
  header.flags |= static_cast<std::uint32_t>(encoded.coding) << index_shift |
                  static_cast<std::uint32_t>(m_coding.values) << value_shift;
  write_header(exec, header, payload);
  return payload_header_bytes + encoded.bytes + value_bytes(m_coding.values, kept);
}

index_t SparseCoder::encode_skip(const Exec& exec, PayloadHeader header, const Span<std::byte>& payload) {
  header.kept = 0;
  header.flags |= PayloadHeader::flag_skip;
  write_header(exec, header, payload);
  return payload_header_bytes;
}

DecodedEntries SparseCoder::decode(const Exec& exec, const Span<const std::byte>& payload,
                                   const PayloadHeader& expected) const {
  const PayloadHeader header = read_header(exec, payload, expected, known_flags);
  require(header.elements == static_cast<std::uint64_t>(m_index.elements()), "payload: for {} elements, expected {}",
          header.elements, m_index.elements());
  require(header.kept <= static_cast<std::uint64_t>(m_index.capacity()), "payload: {} entries, at most {} are possible",
          header.kept, m_index.capacity());
  DecodedEntries view;
  view.kept = static_cast<index_t>(header.kept);
  view.skip = header.skip();
  require(!view.skip || view.kept == 0, "payload: flagged to be skipped, yet with {} entries", view.kept);
  IndexCoding index = IndexCoding::u32;
  ValueCoding values = ValueCoding::f32;
  read_codings(header, index, values);
  require(view.kept == 0 || values == m_coding.values, "payload: values in {}, expected {}", to_string(values),
          to_string(m_coding.values));
  require(view.kept == 0 || m_coding.index.admits(index), "payload: indices in {}, expected {}", to_string(index),
          to_string(m_coding.index.coding));
  const auto size = static_cast<index_t>(payload.size()) - payload_header_bytes;
  const index_t value_size = value_bytes(values, view.kept), index_size = size - value_size;
  require(index_size >= 0 && (is_closed_form(index) ? index_size == index_bytes(index, m_index.elements(), view.kept)
                                                    : index_size <= m_index.capacity_bytes()),
          "payload: {} bytes are wrong for {} entries in {} and {}", payload.size(), view.kept, to_string(index),
          to_string(values));
  check_alignment(payload);

  const auto index_section = subspan(payload, payload_header_bytes, index_size);
  const auto value_section = subspan(payload, payload_header_bytes + index_size, value_size);
  if (is_plain(index, values)) {  // one pass over both
    view.indices = reinterpret_cast<const std::uint32_t*>(index_section.data());
    view.values = reinterpret_cast<const float*>(value_section.data());
    const index_t bad = kernels::count_bad_entries(exec, view.indices, view.values, view.kept, m_index.elements());
    require(bad == 0, "payload: {} of {} entries have an index out of range or order, or a value that is not finite",
            bad, view.kept);
  } else {
    view.indices = m_index.decode(exec, index, index_section, view.kept, m_indices.data());
    view.values = decode_values(exec, values, value_section, view.kept, m_values.data());
  }
  return view;
}

index_t SparseCoder::bytes() const {
  return m_index.bytes() + static_cast<index_t>(m_indices.size() + m_values.size()) * 4;
}

bool decode_sparse(const Exec& exec, const SparseCoder& coder, const Span<const std::byte>& payload,
                   const PayloadHeader& expected, float weight, const Span<float>& out) {
  require(static_cast<std::uint64_t>(out.size()) == expected.elements, "payload: decoded to {} elements, expected {}",
          out.size(), expected.elements);
  const DecodedEntries entries = coder.decode(exec, payload, expected);
  kernels::scatter_add(exec, entries.indices, entries.values, entries.kept, weight, out);
  return entries.skip;
}

}  // namespace gradcomp::coders
