#pragma once
// image_sums.hpp on a host: one thread per image, a vector of channels at a time, in float along a row and in double
// over the rows.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn::host {

/// `mean`: null: zeros.
template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const T* mean, double* sums);

}  // namespace gradcomp::nn::host
