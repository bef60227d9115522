#pragma once
// coarse: every element as a signed byte that counts sixteenths, clamped to about +-8. The residual keeps what is
// missing.
#include <gradcomp/core/registry.hpp>

gradcomp::Entry coarse();
