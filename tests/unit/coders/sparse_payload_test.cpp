#include "gradcomp/coders/sparse_payload.hpp"

#include <gtest/gtest.h>

#include "unit/coders/support.hpp"

namespace gradcomp::coders {
namespace sparse_payload_test {

using coders_test::Bytes;
using coders_test::Guarded;
using coders_test::Indices;
using coders_test::Received;
using Values = std::vector<float>;

constexpr index_t n = 2000;

SparseCoding coding_of(const std::string& index, const std::string& values) {
  return sparse_coding(ParameterValues("test", sparse_coding_parameters(), {{"index", index}, {"values", values}}));
}

/// All pairs of an index coder and a value coder.
std::vector<SparseCoding> pairs() {
  std::vector<SparseCoding> all;
  const auto parameters = sparse_coding_parameters();
  for (const auto& index : parameters[0].choices)
    for (const auto& values : parameters[1].choices) all.push_back(coding_of(index, values));
  return all;
}

PayloadHeader header() {
  PayloadHeader h;
  h.method = 7;
  h.spec = 9;
  h.elements = n;
  return h;
}

Values values_for(const Indices& indices) {
  Values values;
  for (const auto i : indices) values.push_back(std::sin(static_cast<float>(i)) * 3);
  return values;
}

struct Sent {
  Bytes payload;
  Values decoded;
};

/// Encodes entries in the arrays of target(), or in arrays of the caller.
Sent send(const SparseCoder& coder, const Indices& indices, const Values& values, bool through_target) {
  const Exec exec;
  const auto kept = static_cast<index_t>(indices.size());
  const Guarded<std::byte> payload(static_cast<std::size_t>(coder.payload_capacity()));
  const Guarded<std::uint32_t> own_indices(indices);
  const Guarded<float> own_values(values);
  SparseTarget target{own_indices.data(), own_values.data()};
  if (through_target) {
    target = coder.target(payload.span(), kept);
    Kokkos::deep_copy(Span<std::uint32_t>(target.indices, indices.size()),
                      Span<const std::uint32_t>(own_indices.data(), indices.size()));
    Kokkos::deep_copy(Span<float>(target.values, values.size()), Span<const float>(own_values.data(), values.size()));
  }
  const index_t size = coder.encode(exec, header(), target.indices, target.values, kept, payload.span());
  exec.fence();
  EXPECT_TRUE(payload.intact() && own_indices.intact() && own_values.intact());
  EXPECT_LE(size, coder.payload_capacity());
  Values decoded(values.size());
  Kokkos::deep_copy(HostSpan<float>(decoded.data(), decoded.size()), Span<const float>(target.values, decoded.size()));
  return {payload.host(static_cast<std::size_t>(size)), decoded};
}

/// Sets out to half of the decoded payload. Returns false if the payload is refused or flagged.
bool receive(const SparseCoder& coder, const Bytes& payload, Values& out) {
  const Exec exec;
  const Received in(payload);
  const Guarded<float> dense(Values(n, 0.0f));
  Faults faults;
  bool good = false;
  try {
    coder.decode_add(exec, {in.span(), {}, 0.5f, faults.counts()}, header(), "test", dense.span());
    faults.fetch(exec);
    good = !faults.diverged();
  } catch (const Error&) {
  }
  exec.fence();
  EXPECT_TRUE(dense.intact());
  out = dense.host(n);
  return good;
}

PayloadHeader header_of(const Bytes& payload) {
  PayloadHeader h;
  std::memcpy(&h, payload.data(), sizeof h);
  return h;
}

TEST(SparsePayload, EveryPairOfCodingsComesBack) {
  for (const auto& coding : pairs())
    for (const double density : {0.0001, 0.01, 0.3}) {
      const Indices indices = coders_test::random_indices(n, density, 3);
      const SparseCoder coder(coding, n, n);
      const Sent sent = send(coder, indices, values_for(indices), true);
      SCOPED_TRACE(header_of(sent.payload).flags);
      EXPECT_TRUE(sent.payload == send(coder, indices, values_for(indices), false).payload);
      Values out, expected(n, 0.0f);
      for (std::size_t i = 0; i < indices.size(); ++i) expected[indices[i]] = 0.5f * sent.decoded[i];
      EXPECT_TRUE(receive(coder, sent.payload, out));
      EXPECT_TRUE(out == expected);
    }
}

TEST(SparsePayload, SectionsAndFlagsAreWhereTheyBelong) {
  const Indices indices = coders_test::random_indices(n, 0.05);
  const auto kept = static_cast<index_t>(indices.size());
  for (const auto& coding : pairs()) {
    const Bytes payload = send(SparseCoder(coding, n, n), indices, values_for(indices), true).payload;
    const PayloadHeader h = header_of(payload);
    EXPECT_EQ(h.kept, indices.size());
    const IndexCoderEntry& used = index_coder_list().with_id(h.flags >> 8 & 0xf);
    EXPECT_TRUE(coding.index.admits(used));
    EXPECT_EQ(h.flags, used.id << 8 | coding.values->id << 12);
    const Bytes section = coders_test::reference(used, indices, n);
    ASSERT_EQ(payload.size(), 32 + section.size() + static_cast<std::size_t>(coding.values->bytes(kept)));
    EXPECT_TRUE(std::equal(section.begin(), section.end(), payload.begin() + 32));
  }
}

// The default coders need no memory and no copy, and their bytes are those of format version 1.
TEST(SparsePayload, PlainEntriesLieInThePayload) {
  const SparseCoder coder(coding_of("u32", "f32"), n, 100);
  EXPECT_EQ(coder.bytes(), 0);
  EXPECT_EQ(coder.payload_capacity(), 32 + 800);
  const Guarded<std::byte> payload(static_cast<std::size_t>(coder.payload_capacity()));
  const SparseTarget target = coder.target(payload.span(), 3);
  EXPECT_EQ(static_cast<void*>(target.indices), payload.data() + 32);
  EXPECT_EQ(static_cast<void*>(target.values), payload.data() + 32 + 12);
  const Bytes sent = send(coder, {1, 5, 1999}, {1, 2, 3}, true).payload;
  const std::uint32_t words[] = {1, 5, 1999, 0x3f800000u, 0x40000000u, 0x40400000u};
  ASSERT_EQ(sent.size(), 32 + sizeof words);
  EXPECT_EQ(0, std::memcmp(sent.data() + 32, words, sizeof words));
  EXPECT_EQ(header_of(sent).flags, 0u);
  EXPECT_TRUE(coder.in_place());
}

TEST(SparsePayload, WrongHeadersAreRefused) {
  const Indices indices = coders_test::random_indices(n, 0.05);
  for (const auto& coding : pairs()) {
    const SparseCoder coder(coding, n, n);
    const Bytes payload = send(coder, indices, values_for(indices), true).payload;
    const auto refused = [&](const auto& change) {
      PayloadHeader h = header_of(payload);
      change(h);
      Bytes changed = payload;
      std::memcpy(changed.data(), &h, sizeof h);
      Values out;
      const bool good = receive(coder, changed, out);
      return !good && out == Values(n, 0.0f);
    };
    for (const int bit : {0, 1, 2, 7, 12, 13, 14, 15, 16, 31}) {
      if (bit == 0 && coder.in_place()) continue;  // a flag, whose sections nobody reads
      EXPECT_TRUE(refused([&](PayloadHeader& h) { h.flags ^= 1u << bit; })) << bit;
    }
    for (const int bit : {8, 9, 10, 11}) {
      if (coding.index.automatic) continue;  // most such payloads are refused, but another coder may fit
      EXPECT_TRUE(refused([&](PayloadHeader& h) { h.flags ^= 1u << bit; })) << bit;
    }
    EXPECT_TRUE(refused([](PayloadHeader& h) { ++h.elements; }));
    EXPECT_TRUE(refused([](PayloadHeader& h) { h.kept = n + 1; }));
    EXPECT_TRUE(refused([](PayloadHeader& h) { h.kept = ~std::uint64_t{0}; }));
    EXPECT_TRUE(refused([](PayloadHeader& h) { h.kept = 0; }));
    EXPECT_TRUE(refused([](PayloadHeader& h) { h.flags |= 0xf00; }));
  }
}

TEST(SparsePayload, TruncatedAndDamagedPayloadsStayInside) {
  std::mt19937 random(11);
  const Indices indices = coders_test::random_indices(n, 0.01);
  for (const auto& coding : pairs()) {
    const SparseCoder coder(coding, n, static_cast<index_t>(indices.size()) + 3);
    const Bytes payload = send(coder, indices, values_for(indices), true).payload;
    Values out;
    for (std::size_t size = 0; size < payload.size(); ++size)
      ASSERT_FALSE(receive(coder, Bytes(payload.begin(), payload.begin() + size), out)) << size;
    for (int trial = 0; trial < 40; ++trial) {
      Bytes changed = payload;
      for (int flips = trial % 4; flips >= 0; --flips)
        changed[16 + random() % (changed.size() - 16)] ^= static_cast<std::byte>(1u << random() % 8);
      if (!receive(coder, changed, out)) continue;
      for (const float v : out) ASSERT_TRUE(std::isfinite(v));
    }
    EXPECT_TRUE(receive(coder, payload, out)) << "a refused payload changed the work space";
  }
}

TEST(SparsePayload, FlaggedPayloadsAddNothing) {
  for (const auto& coding : pairs()) {
    PayloadHeader h = header();
    h.flags = PayloadHeader::flag_diverged;
    Bytes payload(sizeof h);
    std::memcpy(payload.data(), &h, sizeof h);
    Values out;
    EXPECT_FALSE(receive(SparseCoder(coding, n, 10), payload, out));
    EXPECT_TRUE(std::isnan(out[0])) << "what is made of the sum would not be flagged";
    out[0] = 0;
    EXPECT_EQ(out, Values(n, 0.0f));
  }
}

TEST(SparsePayload, OptionsListTheCodings) {
  const ParameterValues defaults("test", sparse_coding_parameters(), {});
  EXPECT_EQ(defaults.canonical(), "index=u32:values=f32");
  EXPECT_TRUE(coding_of("auto", "int8").index.automatic);
  EXPECT_EQ(coding_of("rice", "bf16").index.coder->name, "rice");
  EXPECT_EQ(coding_of("rice", "bf16").values->name, "bf16");
  EXPECT_THROW(coding_of("huffman", "f32"), Error);
  EXPECT_THROW(coding_of("u32", "f64"), Error);
}

}  // namespace sparse_payload_test
}  // namespace gradcomp::coders
