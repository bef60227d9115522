#include "gradcomp/program/config_file.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/nearest.hpp"
#include "gradcomp/core/utf8.hpp"

namespace gradcomp {
namespace {

/// The last line of each key, counted from 1.
std::map<std::string, int> lines_of_keys(const std::string& text) {
  constexpr const char* around = " \t\r\"'";
  std::map<std::string, int> lines;
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string key = line.substr(0, line.find_first_of("=#"));
    const auto begin = key.find_first_not_of(around), end = key.find_last_not_of(around);
    if (begin != std::string::npos) lines[key.substr(begin, end - begin + 1)] = number;
  }
  return lines;
}

/// Whether `text` has `option` as a word: --lr is not in "--lr-decay".
bool names(const std::string& text, const std::string& option) {
  const auto at = text.find(option);
  if (at == std::string::npos) return false;
  const char next = at + option.size() < text.size() ? text[at + option.size()] : ' ';
  return next != '-' && std::isalnum(static_cast<unsigned char>(next)) == 0;
}

}  // namespace

std::string ConfigFile::place(int line) const {
  const auto path = m_app.get_config_ptr()->as<std::string>();
  return line > 0 ? fmt::format("'{}', line {}: ", path, line) : fmt::format("'{}': ", path);
}

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const std::string text{std::istreambuf_iterator<char>(input), {}};
  require_text(fmt::format("'{}'", m_app.get_config_ptr()->as<std::string>()), text);
  const auto lines = lines_of_keys(text);
  if (const auto nameless = lines.find("[[]]"); nameless != lines.end())  // CLI11 reads the first character of its name
    throw Error(place(nameless->second) + "a section without a name; allowed: KEY = VALUE");
  std::istringstream again(text);
  auto settings = ConfigBase::from_config(again);
  std::vector<std::string> known;
  for (const CLI::Option* option : m_app.get_options()) {
    if (!option->get_configurable()) continue;
    known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  for (const CLI::ConfigItem& item : settings) {
    if (item.name == "++" || item.name == "--") continue;  // the begin and the end of a section
    const std::string key = item.fullname();
    const auto found = lines.contains(item.name) ? lines.find(item.name) : lines.find(key);
    const int line = found == lines.end() ? 0 : found->second;
    const bool is_option = std::find(known.begin(), known.end(), key) != known.end();
    require(is_option, "{}unknown key '{}'; {}allowed: the options of --help, without their dashes", place(line), key,
            did_you_mean(key, known));
    if (m_app.get_option("--" + item.name)->empty()) m_lines["--" + item.name] = line;
  }
  return settings;
}

std::string ConfigFile::place_of(const std::string& error) const {
  for (const auto& [option, line] : m_lines) {
    if (names(error, option)) return place(line);
  }
  return "";
}

}  // namespace gradcomp
