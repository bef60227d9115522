#pragma once
// Vectorised kernels of batch_norm.hpp for hosts (same arguments). A thread works on whole rows. They take any number
// of channels.
#include "gradcomp/nn/layers/batch_norm.hpp"

namespace gradcomp::nn::host {

template <class T>
void batch_norm_apply(const Exec& exec, const Maps<const T>& z, const Statistics<T>& statistics, const T* gamma,
                      const T* beta, const Shortcut<T>& shortcut, Activation activation, const Maps<T>& out);

template <class T>
void batch_norm_backward(const Exec& exec, const Maps<const T>& g, const Maps<const T>& z,
                         const Statistics<T>& statistics, const T* gamma, const T* gamma_gradient,
                         const T* beta_gradient, const Maps<T>& dz);

}  // namespace gradcomp::nn::host
