#include "gradcomp/compressors/composition/composition.hpp"

namespace gradcomp::compressors {

ParameterValues composed_options(const std::string& parts) {
  return ParameterValues("composition", {Parameter::choice("parts", parts, {parts}, "what it is made of")}, {});
}

std::string composed_text(const Compressor& part) {
  const std::string own = part.options().canonical();
  return part.info().name + (own.empty() ? "" : ":" + own);
}

void copy_bytes(const Exec& exec, const std::byte* from, index_t count, std::byte* to) {
  const auto size = static_cast<std::size_t>(count);
  Kokkos::deep_copy(exec, Span<std::byte>(to, size), Span<const std::byte>(from, size));
}

}  // namespace gradcomp::compressors
