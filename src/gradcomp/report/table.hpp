#pragma once
// Aligned tables for terminals: the first column is flush left, all others are flush right. Put units in the headers.
#include <cstdio>
#include <string>
#include <vector>

namespace gradcomp::report {

class Table {
 public:
  /// A header may hold line breaks ("step time\n(ms)"): headers stack, columns stay narrow.
  explicit Table(std::vector<std::string> headers);

  /// Appends a row with one cell for each header. Write "-" where there is no value.
  Table& row(std::vector<std::string> cells);

  /// The table as text, a line per row, no trailing spaces.
  std::string text() const;
  void print(std::FILE* stream = stdout) const;

 private:
  std::vector<std::string> m_headers;
  std::vector<std::vector<std::string>> m_rows;
};

/// A number with `digits` significant digits and no exponent up to 15 digits; "-" for NaN.
std::string format_number(double value, int digits = 3);

/// Bytes with a decimal prefix: "31.2 kB", "1.08 MB".
std::string format_bytes(double bytes);

/// Fraction as per cent: "93.4 %".
std::string format_percent(double fraction);

}  // namespace gradcomp::report
