#include "gradcomp/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "gradcomp/core/error.hpp"

namespace gradcomp::report {
namespace {

/// Columns on the screen: code points, so that a "µ" does not shift what follows.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  if (out.empty()) out.emplace_back();
  return out;
}

std::string padded(const std::string& text, std::size_t columns, bool left) {
  const std::string space(columns - width(text), ' ');
  return left ? text + space : space + text;
}

}  // namespace

Table::Table(std::vector<std::string> headers) : m_headers(std::move(headers)) {}

Table& Table::row(std::vector<std::string> cells) {
  require(cells.size() == m_headers.size(), "table row has {} cells, {} expected", cells.size(), m_headers.size());
  m_rows.push_back(std::move(cells));
  return *this;
}

std::string Table::text() const {
  const std::size_t columns = m_headers.size();
  std::vector<std::vector<std::string>> stacked;
  std::size_t depth = 1;
  for (const auto& header : m_headers) {
    stacked.push_back(lines(header));
    depth = std::max(depth, stacked.back().size());
  }
  std::vector<std::vector<std::string>> all(depth, std::vector<std::string>(columns));
  std::vector<std::size_t> widths(columns, 1);
  for (std::size_t c = 0; c < columns; ++c) {  // short headers sit on the last line, next to the numbers
    const std::size_t skip = depth - stacked[c].size();
    for (std::size_t l = 0; l < stacked[c].size(); ++l) all[skip + l][c] = stacked[c][l];
  }
  all.insert(all.end(), m_rows.begin(), m_rows.end());
  for (const auto& cells : all)
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], width(cells[c]));

  std::string out;
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) line += (c == 0 ? "" : "  ") + padded(all[r][c], widths[c], c == 0);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (r + 1 == depth) {
      for (std::size_t c = 0; c < columns; ++c) out += (c == 0 ? "" : "  ") + std::string(widths[c], '-');
      out += "\n";
    }
  }
  return out;
}

void Table::print(std::FILE* stream) const {
  const auto output = text();
  std::fwrite(output.data(), 1, output.size(), stream);
  std::fflush(stream);
}

std::string format_number(double value, int digits) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value) || value == 0 || std::abs(value) >= 1e15) return fmt::format("{:.{}g}", value, digits);
  // Digits after the point that leave `digits` significant ones; the rounded value may need one less (9.996 -> 10.0).
  const auto decimals = [&](double x) {
    return std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(std::abs(x)))));
  };
  const int first = decimals(value);
  const double rounded = std::round(value * std::pow(10.0, first)) / std::pow(10.0, first);
  return fmt::format("{:.{}f}", value, rounded == 0 ? first : decimals(rounded));
}

std::string format_bytes(double bytes) {
  if (std::isnan(bytes)) return "-";
  static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", unit == 0 ? fmt::format("{:.0f}", bytes) : format_number(bytes), units[unit]);
}

std::string format_percent(double fraction) {
  return std::isnan(fraction) ? "-" : fmt::format("{:.1f} %", 100 * fraction);
}

}  // namespace gradcomp::report
