#pragma once
// The entropy stage of a composition, `method+huffman`. It codes the sections of the inner method's payload, as bytes,
// with a Huffman code (coders/huffman.hpp). If that is not shorter, it sends the sections as they are.
//
// Payload: the header has the elements, kept and flags of the inner header, and the method and options of this
// composition; flag_huffman says whether the sections are coded. A flagged payload has no sections.
// Choice, feedback, flags and checks are those of the inner method. Passes over the sections: 3 reads (histogram,
// lengths, codes) and 1 write.
#include "gradcomp/coders/huffman.hpp"
#include "gradcomp/compressors/composition/composition.hpp"

namespace gradcomp::compressors {

/// A bit of PayloadHeader::flags that no method uses.
inline constexpr std::uint32_t flag_huffman = 1u << 1;

struct EntropyState final : State {
  /// `capacity`: largest size of a payload in bytes, header included.
  EntropyState(const Layout& bucket, std::unique_ptr<State> inner_state, index_t capacity);

  Memories memories() override { return inner->memories(); }
  index_t scratch_bytes() const override;

  std::unique_ptr<State> inner;
  coders::HuffmanCoder coder;
  Vector<std::byte> payload, decoded;  ///< [capacity]; decoded: the inner method's payload
};

class EntropyStage final : public Compressor {
 public:
  explicit EntropyStage(std::shared_ptr<const Compressor> inner);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override { return m_inner->payload_capacity(layout); }
  index_t payload_bytes(const Layout& layout, index_t kept) const override {
    return m_inner->payload_bytes(layout, kept);
  }
  Message produce(const Exec& exec, int round, const Step& step, State& state) const override;
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override;

 private:
  std::shared_ptr<const Compressor> m_inner;
};

}  // namespace gradcomp::compressors
