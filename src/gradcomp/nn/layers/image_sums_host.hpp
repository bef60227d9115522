#pragma once
// The sums of image_sums.hpp for hosts. One thread per image takes a vector of channels at a time, and sums in T along
// a row and in double over the rows.
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn::host {

/// Does what nn::image_sums() does; `mean` = null means zeros.
template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const T* mean, double* sums);

}  // namespace gradcomp::nn::host
