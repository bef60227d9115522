#include "conformance/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "conformance/simulated_rank.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp::conformance {
namespace {

/// Uniform in (0, 1), a pure function of (seed, i) (SplitMix64).
double uniform(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + (i + 1) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

float laplace(std::uint64_t seed, index_t i) {
  const double u = uniform(seed, static_cast<std::uint64_t>(i)) - 0.5;
  return static_cast<float>(std::copysign(std::log(1 - 2 * std::fabs(u)), -u));
}

NamedData kind(std::string name, std::function<float(index_t, index_t, std::uint64_t)> value) {
  return {std::move(name), [value](index_t count, std::uint64_t seed) {
            std::vector<float> values(static_cast<std::size_t>(count));
            for (index_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(i, count, seed);
            return values;
          }};
}

std::vector<std::string> values_of(const Parameter& p) {
  if (p.type == Parameter::Type::choice) return p.choices;
  if (p.type == Parameter::Type::integer) return {fmt::format("{:.0f}", p.low), fmt::format("{:.0f}", p.high)};
  return {fmt::format("{}", p.open_low ? p.low + 1e-3 * (p.high - p.low) : p.low), fmt::format("{}", p.high)};
}

/// One composition for each value coder and for each shape that a composition can have. Those without options count as
/// defaults. Also combinations of options that have a meaning only together.
constexpr std::array compositions = {
    "top_k+qsgd",
    "qsgd+huffman",
    "top_k:index=delta+huffman",
    "top_k:ratio=0.1+int8_block+huffman",
    "top_k:ratio=0.1:index=auto+linear_dithering:bits=3",
    "hard_threshold+natural_dithering:group=256",
    "sidco:ratio=0.05:index=rice+ef_sign",
    "dgc:ratio=0.05:variant=paper+max_min:bits=2",
    "redsync:ratio=0.1+natural:bits=9+huffman",
    "gaussian_k:ratio=0.1+fp8_e4m3",
    "top_k:ratio=1+fp8_e5m2:rounding=stochastic",
    "top_k:ratio=0.1:index=bitmap+terngrad:code=2bit",
    "sign:feedback=none+huffman",
    "strom:tau=0.01+huffman",
    "qsgd:coding=elias+huffman",
    "powersgd:variant=unbiased:side=alternating",
    "powersgd:variant=unbiased:side=alternating:matrix=authors",
    "powersgd:variant=one_sided:matrix=authors",
    "powersgd:variant=cold:matrix=authors",
};

/// Adds the spec to one of the lists.
void sort_in(const std::string& spec, Specs& specs) {
  try {
    parse_method(spec);
    specs.run.push_back(spec);
  } catch (const Error& error) {
    specs.refused.emplace(spec, error.what());
  }
}

}  // namespace

Specs all_specs() {
  Specs specs;
  std::set<std::string> seen;
  for (const auto& entry : all_entries()) {
    specs.run.push_back(entry.info.name);
    for (const auto& p : entry.info.parameters) {
      if (p.shared && !seen.insert(p.name).second) continue;
      for (const auto& value : values_of(p)) {
        if (value != p.default_value) sort_in(fmt::format("{}:{}={}", entry.info.name, p.name, value), specs);
      }
    }
  }
  for (const char* composition : compositions) sort_in(composition, specs);  // some methods may not be registered
  return specs;
}

const std::vector<NamedLayout>& layouts() {
  static const std::vector<NamedLayout> list = [] {
    Layout many;
    many.add("conv", {3, 3, 8, 16}).add("norm", {16}).add("empty", {0}).add("fc", {40, 10}).add("bias", {10});
    many.add("empty_matrix", {0, 5}).add("scalar", {}).add("tall", {129, 3}).add("wide", {2, 70}).add("last", {0});
    return std::vector<NamedLayout>{
        {"no_segment", Layout{}},
        {"n0", Layout::flat(0)},
        {"n1", Layout::flat(1)},
        {"n2", Layout::flat(2)},
        {"n31", Layout::flat(31)},
        {"n1003", Layout::flat(1003)},
        {"matrix", Layout{}.add("matrix", {33, 65})},
        {"kernel", Layout{}.add("kernel", {3, 3, 5, 7})},
        {"many", many},
    };
  }();
  return list;
}

const std::vector<NamedLayout>& large_layouts() {
  // Where lanes are fibres, a launch takes a hundred times as long.
  constexpr bool fibres = device_is_host && kernels::lanes_are_threads;
  constexpr index_t count = fibres ? 100003 : 1000003;
  constexpr std::size_t tensor_count = fibres ? 500 : 10000;
  static const std::vector<NamedLayout> list = [] {
    const std::vector<std::vector<index_t>> shapes = {{}, {7}, {3, 5}, {0}, {4, 3, 2}, {2, 64}, {31}};
    Layout tensors;
    for (std::size_t i = 0; i < tensor_count; ++i) tensors.add("t" + std::to_string(i), shapes[i % shapes.size()]);
    return std::vector<NamedLayout>{{"large", Layout::flat(count)}, {"tensors", std::move(tensors)}};
  }();
  return list;
}

const std::vector<NamedData>& data() {
  static const std::vector<NamedData> list = {
      kind("zeros", [](index_t i, index_t, std::uint64_t) { return i % 3 == 0 ? -0.0f : 0.0f; }),
      kind("constant", [](index_t, index_t, std::uint64_t) { return -0.37f; }),
      kind("laplace", [](index_t i, index_t, std::uint64_t seed) { return 1e-2f * laplace(seed, i); }),
      kind("ties",
           [](index_t i, index_t, std::uint64_t seed) {
             const double u = uniform(seed, static_cast<std::uint64_t>(i));
             return (u < 0.5 ? -1.0f : 1.0f) * (std::fmod(8 * u, 1) < 0.25 ? 2.0f : 1.0f);
           }),
      kind("denormals", [](index_t i, index_t, std::uint64_t seed) { return 1e-41f * laplace(seed, i); }),
      kind("huge", [](index_t i, index_t, std::uint64_t seed) { return 1e30f * laplace(seed, i); }),
      kind("one_nonzero", [](index_t i, index_t n, std::uint64_t) { return i == n / 2 ? 3.5f : 0.0f; }),
  };
  return list;
}

std::vector<float> make_data(const std::string& name, index_t count, std::uint64_t seed) {
  const auto found = std::find_if(data().begin(), data().end(), [&](const NamedData& d) { return d.name == name; });
  require(found != data().end(), "no data called '{}'", name);
  // Each method is tried with the same gradients, and making them took half of the time of the large ones.
  static std::map<std::tuple<std::string, index_t, std::uint64_t>, std::vector<float>> made;
  static std::size_t elements = 0;
  if (elements > std::size_t{1} << 24) {
    made.clear();
    elements = 0;
  }
  const auto [place, is_new] = made.try_emplace({name, count, seed});
  if (is_new) {
    place->second = found->make(count, seed);
    elements += place->second.size();
  }
  return place->second;
}

bool accepts_residual(const MethodSpec& method, bool may_refuse) {
  try {
    auto ranks = make_ranks(method, Layout::flat(40), 1);
    run_step(ranks, 0);
    return true;
  } catch (const Error& error) {
    if (!may_refuse || std::string(error.what()).find("feedback=none") == std::string::npos) throw;  // it is broken
    return false;
  }
}

bool Conformance::takes(const std::string& feedback) const {
  if (feedback == "none") return true;
  const bool declared = method("none").compressor->info().takes(feedback);
  return declared && accepts_residual(method("residual"), !is_default());
}

std::vector<std::string> Conformance::feedbacks() const {
  return takes("residual") ? std::vector<std::string>{"none", "residual"} : std::vector<std::string>{"none"};
}

void Conformance::for_each_case(const std::function<void(const NamedLayout&, const NamedData&)>& body) const {
  for (const auto& layout : layouts()) {
    if (!is_default() && layout.name != "n1" && layout.name != "n1003" && layout.name != "many") continue;
    for (const auto& values : data()) {
      SCOPED_TRACE(layout.name + " " + values.name);
      body(layout, values);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Conformance, testing::ValuesIn(all_specs().run), [](const auto& param) {
  std::string name = param.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return fmt::format("{}_{}", param.index, name);
});

}  // namespace gradcomp::conformance
