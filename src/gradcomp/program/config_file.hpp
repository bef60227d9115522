#pragma once
// The TOML file of --config: CLI11 reads it, but its errors say neither the key nor the line.
#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace gradcomp {

class ConfigFile final : public CLI::ConfigBase {
 public:
  explicit ConfigFile(CLI::App& app) : m_app(app) {
    parentSeparator('\0');  // no text has it: of a key with parts, CLI11 reads the first character even of an empty one
  }

  /// Throws Error, which names the file and the line, if the file is not UTF-8 text or sets what is no option.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  /// "'FILE', line 3: " if the error is about an option that the file sets, and the command line does not; otherwise
  /// empty.
  std::string place_of(const std::string& error) const;

 private:
  std::string place(int line) const;

  CLI::App& m_app;
  mutable std::map<std::string, int> m_lines;  ///< of the options that the file sets
};

}  // namespace gradcomp
