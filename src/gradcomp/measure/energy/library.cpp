#include "gradcomp/measure/energy/library.hpp"

#include <dlfcn.h>

#include "gradcomp/core/error.hpp"

namespace gradcomp {

Library::Library(const std::vector<std::string>& names) {
  std::string said;
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      m_name = name;
      m_handle.reset(handle, [](void* open) { dlclose(open); });
      return;
    }
    const char* error = dlerror();
    if (said.empty()) said = error != nullptr ? error : "the loader does not say why";
  }
  throw Error(fmt::format("cannot open '{}': {}", names.front(), said));
}

void* Library::symbol(const char* name) const {
  void* found = dlsym(m_handle.get(), name);
  require(found != nullptr, "'{}' has no function {}", m_name, name);
  return found;
}

}  // namespace gradcomp
