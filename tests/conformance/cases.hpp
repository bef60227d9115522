#pragma once
// The specs, layouts and data with which the conformance suite runs every method.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::conformance {

/// Specs of all registered methods and of some compositions. Each method is run with its defaults, and with one
/// parameter at a time at its lowest and highest value or at each of its choices.
struct Specs {
  std::vector<std::string> run;
  std::map<std::string, std::string> refused;  ///< combinations that the method refuses, and its error
};
Specs all_specs();

/// Runs a step with a residual. Returns false if `may_refuse` and the method throws an Error that names feedback=none,
/// as variants do whose decoded values are scaled up. Every other Error is thrown again, because the method is broken.
bool accepts_residual(const MethodSpec& method, bool may_refuse);

struct NamedLayout {
  std::string name;
  Layout layout;
};

/// Layouts without a segment, with sizes 0, 1, 2, 31 and 1003, with two and four dimensions, and with many segments,
/// some of them empty.
const std::vector<NamedLayout>& layouts();

/// One vector of 1,000,003 elements, and 10,000 tensors with 0 to 128 elements. Only specs with defaults see them.
const std::vector<NamedLayout>& large_layouts();

/// Values of a gradient of `count` elements. If they are random, they depend on the seed.
struct NamedData {
  std::string name;
  std::function<std::vector<float>(index_t count, std::uint64_t seed)> make;
};

/// Zeros, constant, Laplace, ties, denormals, huge (1e30), and one element that is not zero.
const std::vector<NamedData>& data();

/// The entry of data() with this name.
std::vector<float> make_data(const std::string& name, index_t count, std::uint64_t seed);

/// A test of one spec. TEST_P(Conformance, ...) in any file of this folder runs for all_specs().
class Conformance : public testing::TestWithParam<std::string> {
 protected:
  MethodSpec method(const std::string& feedback) const {
    return parse_method(with_option(GetParam(), "feedback", feedback));
  }
  /// Whether the method works with this feedback: it declares it, and its variant does not refuse all memories.
  bool takes(const std::string& feedback) const;
  bool takes_residual() const { return takes("residual"); }
  /// "none" and, if the method takes a residual, "residual".
  std::vector<std::string> feedbacks() const;
  /// Whether the spec has only defaults. Long cases run only with these.
  bool is_default() const { return GetParam().find(':') == std::string::npos; }
  /// Calls body(layout, data) for every pair, with a trace that names both. Variants see only three of the layouts.
  void for_each_case(const std::function<void(const NamedLayout&, const NamedData&)>& body) const;
};

}  // namespace gradcomp::conformance
