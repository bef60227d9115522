#pragma once
// One rank of a composition with a feedback, and of its parts. It needs device memory that is host memory.
#include "decoding.hpp"
#include "gradcomp/compressors/composition/composition.hpp"
#include "unit/compressors/quantiser_rig.hpp"

namespace gradcomp::compositions {

using quantisers::Bytes;
using quantisers::Floats;
using quantisers::Given;
using quantisers::normal_values;
using quantisers::span;
using Method = std::shared_ptr<const Compressor>;

inline Method make(const std::string& name, const Given& given = {}) {
  const Entry& entry = find_entry(name);
  return entry.make(ParameterValues(name, entry.info.parameters, given));
}
inline Method hybrid(const Method& sparsifier, const Method& coder) {
  return compressors::make_hybrid(sparsifier, coder);
}
inline Method huffman(const Method& inner) { return compressors::make_entropy_stage(inner); }

struct Rig {
  Rig(Method compressor, const Layout& bucket, bool residual)
      : method(std::move(compressor)), layout(bucket), state(method->prepare(layout)) {
    if (residual) memory.assign(static_cast<std::size_t>(layout.count()), 0);
  }

  Source source(const Floats& gradient) {
    Source s;
    s.count = layout.count();
    s.gradient = gradient.data();
    if (!memory.empty()) {
      s.kind = Source::Kind::residual;
      s.memory = memory.data();
    }
    return s;
  }
  /// Makes one step, and returns what its payload decodes to.
  Floats step(const Floats& gradient, std::int64_t number = 0) { return step(source(gradient), number); }
  Floats step(const Source& from, std::int64_t number) {
    message = method->produce(Exec(), 0, {from, {}, {7, number, 0, 1}, {}}, *state);
    Exec().fence();
    return decode(payload());
  }
  Bytes payload() const { return {message.payload.data(), message.payload.data() + message.size}; }
  PayloadHeader header() const {
    PayloadHeader head;
    std::memcpy(&head, message.payload.data(), sizeof(head));
    return head;
  }
  Floats decode(const Bytes& bytes) {
    Floats out(static_cast<std::size_t>(layout.count()), 0);
    test::decode_add(*method, Exec(), Span<const std::byte>(bytes.data(), bytes.size()), 1, *state, span(out));
    Exec().fence();
    return out;
  }

  Method method;
  Layout layout;
  std::unique_ptr<State> state;
  Floats memory;
  Message message;
};

inline Layout three_tensors() {
  Layout layout;
  return layout.add("a", {40, 50}).add("b", {3}).add("c", {4097});
}

}  // namespace gradcomp::compositions
