#pragma once
// The method coarse: every element becomes a signed byte that counts sixteenths, clamped to about +-8. The residual
// keeps the rest.
#include <gradcomp/core/registry.hpp>

gradcomp::Entry coarse();
