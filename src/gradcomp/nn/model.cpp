#include "gradcomp/nn/model.hpp"

namespace gradcomp::nn {

Loss& Loss::operator+=(const Loss& other) {
  sum += other.sum;
  correct += other.correct;
  count += other.count;
  return *this;
}

}  // namespace gradcomp::nn
