#include "gradcomp/core/spec_part.hpp"

#include <sstream>

namespace gradcomp {

std::vector<std::string> split_words(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

SpecPart parse_spec_part(const std::string& owner, const std::string& text) {
  const auto words = split_words(text, ':');
  SpecPart part{words.empty() ? "" : words[0], {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    require(equals != std::string::npos && equals > 0, "{}: '{}' is not key=value", owner, words[i]);
    const std::string key = words[i].substr(0, equals);
    require(part.options.emplace(key, words[i].substr(equals + 1)).second, "{}: option '{}' is given twice", owner,
            key);
  }
  return part;
}

}  // namespace gradcomp
