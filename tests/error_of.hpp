#pragma once
#include <string>

#include "gradcomp/core/error.hpp"

namespace gradcomp::test {

/// The text of the Error that `work` throws, or an empty one if it throws none.
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
