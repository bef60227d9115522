#pragma once
// What the conformance suite runs every method on: specs, layouts and data.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::conformance {

/// Specs of all registered methods: each with its defaults, and with each parameter in turn at its lowest and highest
/// value or at each of its choices. And some compositions of methods.
struct Specs {
  std::vector<std::string> run;
  std::map<std::string, std::string> refused;  ///< combinations that the method refuses, and what it says
};
Specs all_specs();

/// Runs a step with a residual. False where the method refuses it by an Error that names feedback=none, as a variant
/// does whose decoded values are scaled up, and it `may_refuse`. Any other Error is thrown on: the method is broken.
bool accepts_residual(const MethodSpec& method, bool may_refuse);

struct NamedLayout {
  std::string name;
  Layout layout;
};

/// No segment, sizes 0, 1, 2, 31 and 1003, two and four dimensions, and many segments with empty ones between them.
const std::vector<NamedLayout>& layouts();

/// One vector of 1,000,003 elements.
const NamedLayout& large_layout();

/// Values of a gradient of `count` elements; other seeds give other values where the kind is random.
struct NamedData {
  std::string name;
  std::function<std::vector<float>(index_t count, std::uint64_t seed)> make;
};

/// zeros, constant, Laplace, ties, denormals, huge (1e30), one nonzero.
const std::vector<NamedData>& data();

/// data() by name.
std::vector<float> make_data(const std::string& name, index_t count, std::uint64_t seed);

/// A test of one spec. TEST_P(Conformance, ...) in any file of this folder runs for all_specs().
class Conformance : public testing::TestWithParam<std::string> {
 protected:
  MethodSpec method(const std::string& feedback) const {
    return parse_method(with_option(GetParam(), "feedback", feedback));
  }
  /// Whether the method works with this feedback: it declares it, and is no variant that refuses all memories.
  bool takes(const std::string& feedback) const;
  bool takes_residual() const { return takes("residual"); }
  /// "none", and "residual" where the method takes one.
  std::vector<std::string> feedbacks() const;
  /// Defaults only: where a case is too long for every variant.
  bool is_default() const { return GetParam().find(':') == std::string::npos; }
  /// Calls `body(layout, data)` for every pair, with a trace that names both; a variant sees three of the layouts.
  void for_each_case(const std::function<void(const NamedLayout&, const NamedData&)>& body) const;
};

}  // namespace gradcomp::conformance
