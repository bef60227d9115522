#pragma once
// Methods that are made of methods, which a spec joins with `+`: a sparsifier with a value coder (hybrid), and an
// entropy stage behind a hybrid or behind any other method that has one bytes round.
#include <memory>
#include <string>

#include "gradcomp/core/compressor.hpp"

namespace gradcomp::compressors {

/// A method whose `sparsifier` chooses entries and whose `coder` codes their values as one flat tensor (hybrid.hpp). If
/// one of them cannot serve, throws an Error that lists what is allowed.
std::unique_ptr<Compressor> make_hybrid(std::shared_ptr<const Compressor> sparsifier,
                                        std::shared_ptr<const Compressor> coder);

/// Names of the methods that make_hybrid() takes with their default options, as coders and as sparsifiers.
std::string value_coder_names();
std::string hybrid_sparsifier_names();

/// `inner` with Huffman-coded sections (entropy_stage.hpp). Throws Error unless `inner` has exactly one round, of
/// bytes.
std::unique_ptr<Compressor> make_entropy_stage(std::shared_ptr<const Compressor> inner);

/// Options of a composition: one text with the names and options of all parts, so that the hash in a header covers
/// them.
ParameterValues composed_options(const std::string& parts);

/// "name:key=value..." of a method or composition.
std::string composed_text(const Compressor& part);

/// The sections of a payload.
template <class Byte>
Span<Byte> sections_of(const Span<Byte>& payload) {
  return subspan(payload, payload_header_bytes, static_cast<index_t>(payload.size()) - payload_header_bytes);
}

/// The payload of a bytes message.
inline Span<const std::byte> payload_of(const Message& message) {
  return Span<const std::byte>(message.payload.data(), static_cast<std::size_t>(message.size));
}

/// Copies `count` bytes, ordered on exec.
void copy_bytes(const Exec& exec, const std::byte* from, index_t count, std::byte* to);

}  // namespace gradcomp::compressors
