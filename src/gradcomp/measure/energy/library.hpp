#pragma once
// A shared library that is opened at run time, so that a build needs neither it nor its headers.
#include <memory>
#include <string>
#include <vector>

namespace gradcomp {

class Library {
 public:
  /// Opens the first of `names` that exists. If none does, throws Error with the loader's message for the first.
  explicit Library(const std::vector<std::string>& names);

  /// The function `name`; F is a pointer to its type. Throws Error if the library does not have it.
  template <class F>
  F function(const char* name) const {
    return reinterpret_cast<F>(symbol(name));  // POSIX promises that this conversion works
  }

 private:
  void* symbol(const char* name) const;

  std::string m_name;
  std::shared_ptr<void> m_handle;
};

}  // namespace gradcomp
