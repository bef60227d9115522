#pragma once
// bitmap: bit i is set if index i is kept; ceil(elements / 32) words.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

coders::IndexCoderEntry bitmap();

}  // namespace gradcomp::index_coders
