#include "gradcomp/nn/optimisers/optimiser.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/nn/optimisers/adamw.hpp"
#include "gradcomp/nn/optimisers/sgd.hpp"

namespace gradcomp::nn {

MomentumForm momentum_form(const std::string& nesterov) {
  if (nesterov == "off") return MomentumForm::heavy_ball;
  if (nesterov == "on") return MomentumForm::nesterov;
  if (nesterov == "powersgd") return MomentumForm::powersgd;
  throw Error(fmt::format("--nesterov={} is not allowed; one of off, on, powersgd", nesterov));
}

std::unique_ptr<Optimiser<float>> make_optimiser(const Layout& layout, const OptimiserOptions& options) {
  if (options.name == "sgd") return std::make_unique<Sgd<float>>(layout, options);
  if (options.name == "adamw") return std::make_unique<AdamW<float>>(layout, options);
  throw Error(fmt::format("unknown optimiser '{}'; allowed: sgd, adamw", options.name));
}

Vector<std::uint8_t> decayed_elements(const Layout& layout, bool vectors) {
  const Vector<std::uint8_t> decayed("gradcomp::nn::decayed", static_cast<std::size_t>(layout.count()));
  const auto host = Kokkos::create_mirror_view(decayed);
  for (const Segment& segment : layout.segments) {
    const std::uint8_t flag = segment.is_matrix() || vectors ? 1 : 0;
    for (index_t i = 0; i < segment.count; ++i) host(segment.offset + i) = flag;
  }
  Kokkos::deep_copy(decayed, host);
  return decayed;
}

}  // namespace gradcomp::nn
