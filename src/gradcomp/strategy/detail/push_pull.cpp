#include "gradcomp/strategy/detail/push_pull.hpp"

#include "gradcomp/exchange/detail/refusals.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace gradcomp {

std::string refuses_push(const MethodSpec& method) {
  const Info& info = method.compressor->info();
  const std::string& feedback = method.common.text("feedback");
  if (info.property == Info::Property::sign) {
    return fmt::format("servers take the mean of what each worker sends, and method {} sends votes", info.name);
  }
  if (info.family == Info::Family::control) {
    return feedback == "none" ? "" : fmt::format("servers take method {} only with feedback=none", info.name);
  }
  if (!sends_bytes(info)) {
    return fmt::format(
        "servers take one message of bytes from each worker, and those of method {} only make sense when added",
        info.name);
  }
  if (feedback == "ef21") return "feedback=ef21 needs the mean over all workers in every step; allowed: none, residual";
  return "";
}

index_t push_capacity(const Compressor& compressor, const Layout& keys) {
  if (keys.count() == 0) return 0;
  const bool dense = compressor.info().family == Info::Family::control;
  return dense ? 4 * keys.count() : compressor.payload_capacity(keys);
}

void add_dense(const Exec& exec, DType type, const Span<const std::byte>& values, float weight,
               const Span<float>& out) {
  const auto n = static_cast<index_t>(out.size());
  const bool known = type == DType::f32 || (type == DType::f16 || type == DType::bf16);
  require(known && static_cast<index_t>(values.size()) == n * size_of(type),
          "strategy servers: a push of {} bytes does not hold {} dense values", values.size(), n);
  const auto* f32 = reinterpret_cast<const float*>(values.data());
  const auto* u16 = reinterpret_cast<const std::uint16_t*>(values.data());
  Kokkos::parallel_for(
      "gradcomp::strategy::add_dense", IndexRange(exec, 0, n), KOKKOS_LAMBDA(const index_t i) {
        const float x = type == DType::f32   ? f32[i]
                        : type == DType::f16 ? kernels::Half::decode(u16[i])
                                             : kernels::Bfloat::decode(u16[i]);
        out(i) += weight * x;
      });
}

}  // namespace gradcomp
