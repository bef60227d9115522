#pragma once
// A result file: a superset of Google Benchmark's JSON (docs/results-schema.md). It is written whole or not at all.
#include <string>

#include "gradcomp/report/json.hpp"
#include "gradcomp/report/row.hpp"

namespace gradcomp::report {

class ResultFile {
 public:
  /// `context` comes from make_context(). With an empty path write() does nothing. Checks the path (check_writable).
  ResultFile(std::string path, Json context);

  /// Appends one row: one method and case.
  ResultFile& add(const Row& row);

  /// Marks the file as that of a failed run: adds `line` to context.gradcomp.failures, which other files do not have.
  ResultFile& fail(const std::string& line);

  bool wanted() const { return !m_path.empty(); }
  const std::string& path() const { return m_path; }

  /// The whole document, context first.
  Json document() const;

  /// Writes the file atomically. Call it on rank 0 only, and only if all answers of the run were right.
  void write() const;

 private:
  std::string m_path;
  Json m_context;
  Json m_rows = Json::array();
};

}  // namespace gradcomp::report
