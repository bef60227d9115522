#pragma once
// Sums over the pixels of each image, where no convolution has formed them on the way: what batch norm needs of a map.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn {

/// sums[image][0][channel] = sum of a, sums[image][1][channel] = sum of a (b - mean[channel]), both in double; with an
/// empty `mean` the second is the sum of a b. a and b may be the same map.
template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const Span<const T>& mean,
                const Span<double>& sums, Path path);

}  // namespace gradcomp::nn
