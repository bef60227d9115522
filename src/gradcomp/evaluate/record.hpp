#pragma once
// How an evaluation is shown: a row of the result file and a line of the table.
#include <string>

#include "gradcomp/evaluate/method_evaluation.hpp"
#include "gradcomp/report/json.hpp"
#include "gradcomp/report/row.hpp"
#include "gradcomp/report/table.hpp"

namespace gradcomp::evaluate {

/// Steps of a stream, and what a row says of them.
struct Case {
  std::string stream;  ///< Stream::name()
  std::string loop;    ///< "open", "closed" (files, synthetic data) or "training"
  index_t elements = 0;
  std::vector<index_t> at;  ///< steps that have values of their own in the record
};

/// All density ratios of steps [first, last) in one list.
std::vector<double> ratios(const Measurements& m, std::size_t first, std::size_t last);

/// The row "evaluate/<stream>/<label>". Columns that do not apply to a method are left out.
report::Row to_row(const Case& what, const MethodEvaluation& evaluation);

/// The table of one stream, and its line for one row. `wide`: with all columns, in more than 80 columns of the screen.
report::Table make_table(bool wide);
void add_line(report::Table& table, const report::Row& row, bool wide);

/// The registered methods as JSON: name, family, summary, feedback, has_target, parameters with default and range.
report::Json methods_json();

}  // namespace gradcomp::evaluate
