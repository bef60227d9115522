#include "gradcomp/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gradcomp/core/error.hpp"

namespace gradcomp::report {
namespace {

/// Columns on the screen: code points, so that a "µ" does not shift what follows.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string padded(const std::string& text, std::size_t columns, bool left) {
  const std::string space(columns - width(text), ' ');
  return left ? text + space : space + text;
}

}  // namespace

Table::Table(std::vector<std::string> headers, std::size_t most) : m_headers(std::move(headers)), m_most(most) {}

Table& Table::row(std::vector<std::string> cells) {
  require(cells.size() == m_headers.size(), "table row has {} cells, {} expected", cells.size(), m_headers.size());
  m_rows.push_back(std::move(cells));
  return *this;
}

std::string Table::text() const {
  const std::size_t columns = m_headers.size();
  std::vector<std::size_t> widths;
  for (const auto& header : m_headers) widths.push_back(width(header));
  for (const auto& cells : m_rows)
    for (std::size_t c = 1; c < columns; ++c) widths[c] = std::max(widths[c], width(cells[c]));
  const std::size_t others = std::accumulate(widths.begin() + 1, widths.end(), 2 * (columns - 1));
  const auto fits = [&](const std::string& name) { return m_most == 0 || width(name) + others <= m_most; };
  for (const auto& cells : m_rows)
    if (fits(cells[0])) widths[0] = std::max(widths[0], width(cells[0]));

  std::string out;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line = padded(cells[0], widths[0], true);
    for (std::size_t c = 1; c < columns; ++c) line += "  " + padded(cells[c], widths[c], false);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add(m_headers);
  std::vector<std::string> rule;
  for (const std::size_t w : widths) rule.emplace_back(w, '-');
  add(rule);
  for (auto cells : m_rows) {
    if (width(cells[0]) > widths[0]) out += std::exchange(cells[0], "") + "\n";
    add(cells);
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
