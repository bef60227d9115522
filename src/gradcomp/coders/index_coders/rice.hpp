#pragma once
// rice: gap - 1 = quotient 2^b + remainder (Rice 1979): the remainders as fields of b bits, then the quotients in unary
// (zeros, then a one), each part in whole words. b follows from elements and kept.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

/// Width b of a remainder: the best for geometric gaps of mean elements / kept (Kiely, IPN Progress Report 42-159,
/// 2004), in integers, so that all machines agree.
int rice_width(index_t elements, index_t kept);

coders::IndexCoderEntry rice();

}  // namespace gradcomp::index_coders
