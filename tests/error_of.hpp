#pragma once
#include <string>

#include "gradcomp/core/error.hpp"

namespace gradcomp::test {

/// What the Error says that `work` throws; empty without one.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace gradcomp::test
