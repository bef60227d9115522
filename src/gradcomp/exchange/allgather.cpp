#include "gradcomp/exchange/allgather.hpp"

#include "gradcomp/exchange/ties.hpp"
#include "gradcomp/kernels/signs.hpp"

namespace gradcomp {
namespace {

/// sums -> +-1; where they are 0, -1 if the element's bit of `ties` is set.
void take_signs(const Exec& exec, const Span<float>& sums, std::uint32_t ties) {
  const auto n = static_cast<index_t>(sums.size());
  Kokkos::parallel_for(
      "gradcomp::exchange::take_signs", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const index_t i) {
        const bool tied = ((ties >> kernels::sign_bit(i, n)) & 1u) != 0;
        sums(i) = sums(i) < 0 || (sums(i) == 0 && tied) ? -1.0f : 1.0f;
      });
}

class Allgather final : public Reducer {
 public:
  Allgather(const Compressor& compressor, const Layout& layout, Communicator& comm)
      : Reducer(compressor, layout, comm),
        m_slot((compressor.payload_capacity(layout) + gather_alignment - 1) / gather_alignment * gather_alignment),
        m_payloads("gradcomp::exchange::allgather::payloads", static_cast<std::size_t>(m_slot * comm.size())) {}

  index_t buffer_bytes() const override { return static_cast<index_t>(m_payloads.size()); }

 private:
  RequestPtr exchange(const Exec& exec, const Message& message) override {
    require(message.size <= m_slot, "{}: a payload of {} bytes exceeds its capacity of {}", m_compressor.info().name,
            message.size, m_slot);
    return m_comm.allgatherv(exec, message.payload.data(), message.size, m_payloads.data(), index_t(m_payloads.size()),
                             m_sizes);
  }

  bool decompress(const Exec& exec, const Span<float>& out) override {
    // all headers first: one flagged payload makes the decoding of the others useless
    bool good = true;
    for (std::size_t r = 0; r < m_sizes.size.size(); ++r) good = !read_header(exec, payload(r)).skip() && good;
    if (!good) return false;
    Kokkos::deep_copy(exec, out, 0.0f);
    const bool votes = m_compressor.info().property == Info::Property::sign;
    const float weight = votes ? 1.0f : 1.0f / static_cast<float>(m_context.ranks);
    for (std::size_t r = 0; r < m_sizes.size.size(); ++r) {
      m_compressor.decode_add(exec, payload(r), weight, *m_state, out);
    }
    if (votes) take_signs(exec, out, tie_bits(m_compressor, m_context.step));
    return true;
  }

  Span<const std::byte> payload(std::size_t rank) const {
    return Span<const std::byte>(m_payloads.data() + m_sizes.offset[rank],
                                 static_cast<std::size_t>(m_sizes.size[rank]));
  }

  index_t m_slot;  ///< bytes that one rank's payload can take in m_payloads
  Vector<std::byte> m_payloads;
  GatherSizes m_sizes;
};

}  // namespace

std::unique_ptr<Reducer> make_allgather(const Options&, const Compressor& compressor, const Layout& layout,
                                        Communicator& comm) {
  const auto& rounds = compressor.info().rounds;
  require(rounds.size() == 1 && rounds[0] == MessageKind::bytes,
          "reducer allgather: it carries one round of bytes, and method {} has other messages", compressor.info().name);
  return std::make_unique<Allgather>(compressor, layout, comm);
}

}  // namespace gradcomp
