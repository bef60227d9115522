#include "gradcomp/method/scale_range.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace gradcomp {
namespace {

constexpr int usual_low = -116, usual_high = 119;
constexpr const char* ends = "above, sums beyond 3.4e38 end the run";
constexpr const char* coarse = "below, levels are those of a norm of 8.1e-28: unbiased, but noisier";

/// The methods whose range is not {usual_low, usual_high}, or needs words.
const std::map<std::string, ScaleRange>& exceptions() {
  static const std::map<std::string, ScaleRange> table = {
      {"atomo", {usual_low, usual_high, ends}},
      {"block_top_k", {usual_low, usual_high, ends}},
      {"fp16", {-7, 16, "below, errors are up to 3e-8 times the ranks; above, values saturate at 65504"}},
      {"fp32", {usual_low, usual_high, ends}},
      {"gaussian_k", {-70, 60, "outside, squares leave the range of a float, and the search starts elsewhere"}},
      {"global_qsgd", {-88, usual_high, coarse}},
      {"linear_dithering", {-88, usual_high, coarse}},
      {"max_min", {-88, usual_high, coarse}},
      {"natural", {-103, 18, "below, values become 0 or 2^-108, unbiased; above, they saturate at 262144"}},
      {"natural_dithering", {-88, usual_high, coarse}},
      {"powersgd", {-112, usual_high, ends}},
      {"qsgd", {-88, usual_high, coarse}},
      {"random_k", {usual_low, usual_high, ends}},
      {"rotated", {-99, usual_high, "groups with an element beyond 8.5e37 are sent as zeros"}},
      {"sketch", {usual_low, usual_high, ends}},
      {"terngrad", {-88, usual_high, coarse}},
  };
  return table;
}

std::string number(int exponent) {
  std::string text = fmt::format("{:.1e}", std::ldexp(1.0, exponent));
  std::erase(text, '+');
  return text;
}

}  // namespace

std::optional<ScaleRange> scale_range(const Info& info) {
  const auto found = exceptions().find(info.name);
  if (found != exceptions().end()) return found->second;
  if (!info.scale_free || info.property == Info::Property::sign) return std::nullopt;
  return ScaleRange{usual_low, usual_high, ""};
}

std::string scale_range_text(const Info& info) {
  const auto range = scale_range(info);
  if (info.property == Info::Property::sign) return "any; only signs are sent";
  if (!range) return "any; a threshold is in the gradient's own units";
  return fmt::format("{} to {}{}{}", number(range->low), number(range->high), range->outside.empty() ? "" : "; ",
                     range->outside);
}

}  // namespace gradcomp
