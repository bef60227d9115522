#pragma once
// Aligned tables for terminals: the first column is flush left, all others are flush right. Put units in the headers.
#include <cstdio>
#include <string>
#include <vector>

namespace gradcomp::report {

class Table {
 public:
  /// Rows take at most `most` columns of the screen: a name in the first column that leaves no room for the other cells
  /// stands in a line of its own above them. If the other cells alone take more, rows are longer. 0: no limit.
  explicit Table(std::vector<std::string> headers, std::size_t most = 80);

  /// Appends a row with one cell for each header. Write "-" where there is no value.
  Table& row(std::vector<std::string> cells);

  /// The table as text: a line of headers, a rule, a line per row, no trailing spaces.
  std::string text() const;
  void print(std::FILE* stream = stdout) const;

 private:
  std::vector<std::string> m_headers;
  std::size_t m_most;
  std::vector<std::vector<std::string>> m_rows;
};

/// A number with `digits` significant digits and no exponent up to 15 digits; "-" for NaN.
std::string format_number(double value, int digits = 3);

/// Bytes with a decimal prefix: "31.2 kB", "1.08 MB".
std::string format_bytes(double bytes);

/// Fraction as per cent: "93.4 %".
std::string format_percent(double fraction);

}  // namespace gradcomp::report
