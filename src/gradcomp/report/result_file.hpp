#pragma once
// A result file: a superset of Google Benchmark's JSON (docs/results-schema.md). It is written whole or not at all.
#include <string>

#include "gradcomp/report/json.hpp"
#include "gradcomp/report/row.hpp"

namespace gradcomp::report {

/// Throws Error, one line naming the path and the reason, unless a file at `path` could be written now. Call it before
/// the run: nobody wants to learn after an hour that the folder is missing. An empty path is fine (no output wanted).
void check_writable(const std::string& path);

/// Replaces the file at `path` by `text`: temporary file in the same folder, fsync, rename. Throws Error, and leaves
/// what was there before, when any step fails.
void write_atomically(const std::string& path, const std::string& text);

class ResultFile {
 public:
  /// `context` comes from make_context(). With an empty path write() does nothing. Checks the path (check_writable).
  ResultFile(std::string path, Json context);

  /// Appends one row: one method and case.
  ResultFile& add(const Row& row);

  /// Marks the file as that of a failed run: `line` is added to context.gradcomp.failures, which good files lack.
  ResultFile& fail(const std::string& line);

  bool wanted() const { return !m_path.empty(); }
  const std::string& path() const { return m_path; }

  /// The whole document, context first.
  Json document() const;

  /// Writes it atomically; call on rank 0 only, when all answers of the run were right.
  void write() const;

 private:
  std::string m_path;
  Json m_context;
  Json m_rows = Json::array();
};

}  // namespace gradcomp::report
