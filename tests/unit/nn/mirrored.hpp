#pragma once
// Arrays that tests fill and read on the host and pass to kernels.
#include <memory>
#include <vector>

#include "gradcomp/core/types.hpp"
#include "same_bits.hpp"

namespace gradcomp::nn::test {

/// A device array with a host copy. The copy is separate memory even if the device is the host, so that a test that
/// forgets a copy fails on a CPU too. Conversion to a span, for kernels, first copies what the host wrote to the
/// device. A span that can be written counts as written. Indexing gives the host copy, and first fetches what kernels
/// may have written. References to elements stay valid, and as long as kernels only read the array, they see what is
/// written through references. Copies of this object share the array.
template <class T>
class Mirrored {
 public:
  Mirrored() : Mirrored(0) {}
  explicit Mirrored(index_t count) : m_state(std::make_shared<State>(static_cast<std::size_t>(count))) {}

  std::size_t size() const { return m_state->host.size(); }

  T& operator()(index_t i) const { return host()(i); }

  operator Span<const T>() const {
    push();
    return m_state->device;
  }
  operator Span<T>() const {
    push();
    m_state->on_device = true;
    return m_state->device;
  }

  /// The pointers that kernels take as arguments, like the two conversions.
  const T* read() const { return Span<const T>(*this).data(); }
  T* write() const { return Span<T>(*this).data(); }

  /// All elements on the host.
  HostSpan<T> host() const {
    if (m_state->on_device) Kokkos::deep_copy(m_state->host, m_state->device);
    m_state->on_device = false;
    return m_state->host;
  }

  /// The current elements, during a call whose kernels still write them.
  std::vector<T> now() const {
    std::vector<T> values(size());
    const HostSpan<T> to(values.data(), values.size());
    m_state->on_device ? Kokkos::deep_copy(to, m_state->device) : Kokkos::deep_copy(to, m_state->host);
    return values;
  }

  void fill(T value) const { Kokkos::deep_copy(host(), value); }
  void assign(const Mirrored& from) const { Kokkos::deep_copy(host(), from.host()); }

  /// The elements from `offset` on, for indexing on the host.
  auto from(index_t offset) const {
    return [array = *this, offset](index_t i) -> T& { return array(offset + i); };
  }

 private:
  struct State {
    explicit State(std::size_t count) : device("device", count), host("host", count) {}
    Vector<T> device;
    Kokkos::View<T*, Kokkos::HostSpace> host;
    bool on_device = false;
  };

  void push() const {
    if (!m_state->on_device) Kokkos::deep_copy(m_state->device, m_state->host);
  }

  std::shared_ptr<State> m_state;
};

using gradcomp::test::same_bits;
template <class T>
bool same_bits(const Mirrored<T>& a, const Mirrored<T>& b) {
  return a.size() == b.size() && same_bits(a.host().data(), b.host().data(), a.size());
}

/// A host copy of what kernels computed.
template <class T>
Mirrored<T> host_copy(const T* device, index_t count) {
  Mirrored<T> result(count);
  Kokkos::deep_copy(result.host(), Span<const T>(device, static_cast<std::size_t>(count)));
  return result;
}

}  // namespace gradcomp::nn::test
