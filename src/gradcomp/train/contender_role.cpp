// What a contender is in a comparison. Apart from contender.cpp, because it needs neither strategies nor samplers.
#include <map>

#include "gradcomp/method/spec.hpp"
#include "gradcomp/train/contender.hpp"

namespace gradcomp::train {

Contender::Role Contender::role_of(const MethodSpec& spec) {
  static const std::map<std::string, Role> dense = {{parse_method("fp32").canonical, Role::fp32},
                                                    {parse_method("fp16").canonical, Role::fp16},
                                                    {parse_method("bf16").canonical, Role::bf16}};
  if (spec.compressor == nullptr) return Role::method;  // no spec yet
  if (spec.common.text("reducer") == "local") return Role::bound;
  const auto found = dense.find(spec.canonical);
  return found == dense.end() ? Role::method : found->second;
}

std::string Contender::tuned_as() const {
  return role == Role::method ? spec.canonical : parse_method("fp32").canonical;
}

std::string to_string(Contender::Role role) {
  constexpr const char* names[] = {"method", "bound", "fp32", "fp16", "bf16"};
  return names[static_cast<int>(role)];
}

}  // namespace gradcomp::train
