#include "gradcomp/core/info.hpp"

#include <algorithm>

namespace gradcomp {

bool Info::takes(const std::string& feedback_kind) const {
  return std::find(feedbacks.begin(), feedbacks.end(), feedback_kind) != feedbacks.end();
}

std::string to_string(Info::Family family) {
  switch (family) {
    case Info::Family::control:
      return "control";
    case Info::Family::sparsifier:
      return "sparsifier";
    case Info::Family::quantiser:
      return "quantiser";
    case Info::Family::low_rank:
      return "low rank";
  }
  return "?";
}

std::string to_string(Info::Property property) {
  switch (property) {
    case Info::Property::exact:
      return "exact";
    case Info::Property::unbiased:
      return "unbiased";
    case Info::Property::contraction:
      return "contraction";
    case Info::Property::rounding:
      return "rounding";
    case Info::Property::sign:
      return "sign";
    case Info::Property::biased:
      return "biased";
  }
  return "?";
}

}  // namespace gradcomp
