#pragma once
// rice: for each index, the difference to the index before (to -1 for the first), minus one, is quotient 2^b +
// remainder (Rice 1979). First come the remainders as fields of b bits, then the quotients in unary (zeros, then a
// one); each part fills whole words. b follows from elements and kept.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

/// The width b of a remainder: the best for geometrically distributed gaps of mean elements / kept (Kiely, IPN Progress
/// Report 42-159, 2004). It is computed with integers, so that all machines agree.
int rice_width(index_t elements, index_t kept);

coders::IndexCoderEntry rice();

}  // namespace gradcomp::index_coders
