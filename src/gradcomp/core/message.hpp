#pragma once
// What one round of a compressor hands to the exchange.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

/// A message is either summable (equal count and meaning on all ranks; the exchange adds it or takes its maximum,
/// element by element) or bytes (a payload with its header; the exchange only carries it).
enum class MessageKind : std::uint8_t { summable, bytes };

/// Entries of a bytes message: ascending indices into the bucket and the values that receivers decode.
struct SparseView {
  const std::uint32_t* indices = nullptr;
  const float* values = nullptr;
  index_t kept = 0;
};

struct Message {
  MessageKind kind = MessageKind::summable;

  // summable: set by produce(); the exchange reads `data` and writes the reduction over ranks to `result`. Both belong
  // to the compressor's State (or to the source) and may be the same array. A rank whose gradient is not finite sends
  // NaN in element 0, or +infinity if the reduction is a maximum; every rank then sees this in the result.
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  index_t count = 0;
  const void* data = nullptr;
  void* result = nullptr;

  // bytes: `payload` is the State's buffer of payload_capacity() bytes, of which produce() filled `size`.
  Span<std::byte> payload;
  index_t size = 0;
  SparseView sparse;  ///< for reducers that merge entries, if max_kept() > 0; its arrays live as long as the State

  /// Bytes handed to the exchange.
  index_t bytes() const { return kind == MessageKind::summable ? count * size_of(dtype) : size; }
};

}  // namespace gradcomp
