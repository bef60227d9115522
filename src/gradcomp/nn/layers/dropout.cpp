#include "gradcomp/nn/layers/dropout.hpp"

#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::nn {
namespace {

constexpr std::uint32_t dropout_stream = 64;  ///< differs from all streams in kernels/random/threefry.hpp

}  // namespace

template <class T>
void apply_dropout(const Exec& exec, const Dropout& dropout, const Matrix<const T>& x, const Matrix<T>& to) {
  const Array4 key = stream_key(dropout.key, dropout.layer, 0, 0);
  const auto zeros = static_cast<std::uint32_t>(dropout.rate * 0x1p32);  // smaller words, of 2^32, give a zero
  const T scale = static_cast<T>(1 / (1 - dropout.rate));
  const index_t sequences = dropout.sequences, steps = dropout.steps, columns = x.columns;
  const index_t draws = (columns + 3) / 4;  // per row; word w of draw d belongs to unit w draws + d
  kernels::for_warps(
      "gradcomp::nn::apply_dropout", exec, x.rows, KOKKOS_LAMBDA(const kernels::Warp& warp, const index_t row) {
        const index_t first = (row % sequences * steps + row / sequences) * draws;
        const T* from = &x(row, 0);
        T* result = &to(row, 0);
        for (index_t start = 0; start < draws; start += kernels::warp_lanes) {
          kernels::Lanes<std::uint32_t> word0, word1, word2, word3;
          warp.each([&](int l) {
            const Array4 bits = threefry4x32_12(key, stream_counter(first + start + l, dropout_stream, 0));
            word0[l] = bits.x0;
            word1[l] = bits.x1;
            word2[l] = bits.x2;
            word3[l] = bits.x3;
          });
          const auto mask = [&](kernels::Lanes<std::uint32_t>& word, index_t offset) {
            warp.each([&](int l) {
              const index_t j = offset + start + l;
              if (start + l < draws && j < columns) result[j] = word[l] < zeros ? T(0) : from[j] * scale;
            });
          };
          mask(word0, 0);
          mask(word1, draws);
          mask(word2, 2 * draws);
          mask(word3, 3 * draws);
        }
      });
}

#define GRADCOMP_INSTANTIATE(T) \
  template void apply_dropout<T>(const Exec&, const Dropout&, const Matrix<const T>&, const Matrix<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn
