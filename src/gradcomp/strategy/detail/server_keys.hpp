#pragma once
// Which server holds which parameters.
#include <vector>

#include "gradcomp/exchange/method_spec.hpp"
#include "gradcomp/exchange/stripes.hpp"

namespace gradcomp {

/// One contiguous part of the model per server, in order and without gaps, of about equal bytes; a part may be empty.
/// If the method's messages of a part are as good as those of the whole (Info::stripes), parts are cut inside tensors
/// (cut_stripes()); otherwise a tensor stays on one server. Applies the method's granularity.
std::vector<Stripe> server_keys(const MethodSpec& method, const Layout& layout, int servers);

/// The tensors, or parts of tensors, that `keys` hold of the model, for an optimiser. Tensors to which weight decay
/// applies are matrices here too, whatever the method sees.
Layout tensors_of(const Layout& model, const Stripe& keys);

}  // namespace gradcomp
