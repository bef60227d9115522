#pragma once
// The common part of sign and signum, which send nothing but sign bits. Sections: the sign words of the bucket as one
// run (kernels/pack/signs.hpp). A set bit is decoded as -1, any other as +1.
#include <memory>
#include <vector>

#include "gradcomp/compressors/detail/dense/dense_bytes.hpp"
#include "gradcomp/kernels/pack/signs.hpp"

namespace gradcomp::compressors {

struct SignBitsState final : DenseState {
  /// `with_momentum`: whether the state has a momentum of the bucket's size.
  SignBitsState(const Layout& bucket, index_t payload_bytes, bool with_momentum)
      : DenseState(bucket, payload_bytes),
        pieces({{0, bucket.count()}}),
        momentum("gradcomp::compressors::signum::momentum",
                 static_cast<std::size_t>(with_momentum ? bucket.count() : 0)) {}
  Memories memories() override;
  index_t scratch_bytes() const override { return pieces.bytes() + static_cast<index_t>(payload.size()); }

  kernels::SignPieces pieces;
  Vector<float> momentum;
};

class SignBits : public DenseBytes {
 public:
  using DenseBytes::DenseBytes;

  index_t payload_bytes(const Layout& layout, index_t) const override {
    return 4 * kernels::sign_words(layout.count());
  }

 protected:
  void decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const override;
};

/// The part of info() that both methods have in common.
Info sign_info();

}  // namespace gradcomp::compressors
