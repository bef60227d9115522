#include "gradcomp/coders/index_coding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradcomp::coders {
namespace {

constexpr const char* automatic_choice = "auto";

}  // namespace

const CoderList<IndexCoderEntry>& index_coder_list() {
  static const CoderList<IndexCoderEntry> list(all_index_coders(), "index coder");
  return list;
}

const IndexCoderEntry& find_index_coder(const std::string& name) { return index_coder_list().named(name); }

std::vector<std::string> index_choice_names() {
  std::vector<std::string> names = index_coder_list().names();
  names.emplace_back(automatic_choice);
  return names;
}

IndexChoice index_choice(const std::string& name) {
  if (name == automatic_choice) return {&index_coder_list().front(), true};
  return {&index_coder_list().named(name, {automatic_choice}), false};
}

index_t index_bytes(const IndexCoderEntry& coder, index_t elements, index_t kept) {
  return kept == 0 ? 0 : coder.max_bytes(elements, kept);
}

index_t index_capacity_bytes(const IndexChoice& choice, index_t elements, index_t capacity) {
  const auto most = [&](const IndexCoderEntry& coder) {
    if (capacity == 0) return index_t{0};
    return coder.capacity_bytes == nullptr ? coder.max_bytes(elements, capacity)
                                           : coder.capacity_bytes(elements, capacity);
  };
  index_t least = most(*choice.coder);
  if (choice.automatic)
    for (const IndexCoderEntry* const coder : index_coder_list()) least = std::min(least, most(*coder));
  return least;
}

double entropy_bits(index_t elements, index_t kept) {
  if (kept == 0) return 0;
  const auto n = static_cast<double>(elements), k = static_cast<double>(kept);
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / (k * std::numbers::ln2);
}

}  // namespace gradcomp::coders
