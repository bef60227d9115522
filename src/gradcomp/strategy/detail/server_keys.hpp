#pragma once
// Which server holds which parameters.
#include <vector>

#include "gradcomp/exchange/detail/stripes.hpp"
#include "gradcomp/exchange/method_spec.hpp"

namespace gradcomp {

/// One contiguous part of the model per server, in order and without gaps, of about equal bytes; a part may be empty.
/// Methods whose messages of a part say as much as those of the whole (Info::stripes) are cut inside tensors
/// (cut_stripes); for the others a tensor stays on one server. The method's granularity is applied.
std::vector<Stripe> server_keys(const MethodSpec& method, const Layout& layout, int servers);

/// The tensors, whole or in part, that `keys` hold of the model, for an optimiser: those that decay are matrices here
/// too, whatever the method sees.
Layout tensors_of(const Layout& model, const Stripe& keys);

}  // namespace gradcomp
