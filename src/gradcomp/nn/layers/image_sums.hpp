#pragma once
// The sums over the pixels of each image that batch norm needs, for maps whose sums the convolution has not formed.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// sums[image][0][channel] = sum of a, and sums[image][1][channel] = sum of a (b - mean[channel]). If `mean` is empty,
/// the second is the sum of a b. a and b may be the same map.
template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const Span<const T>& mean,
                const Span<double>& sums, Path path);

}  // namespace gradcomp::nn
