#include "gradcomp/report/result_file.hpp"

#include <utility>

#include "gradcomp/core/atomic_file.hpp"

namespace gradcomp::report {

ResultFile::ResultFile(std::string path, Json context) : m_path(std::move(path)), m_context(std::move(context)) {
  check_writable(m_path);
}

ResultFile& ResultFile::add(const Row& row) {
  m_rows.push_back(row.json());
  return *this;
}

ResultFile& ResultFile::fail(const std::string& line) {
  m_context["gradcomp"]["failures"].push_back(line);
  return *this;
}

Json ResultFile::document() const { return Json{{"context", m_context}, {"benchmarks", m_rows}}; }

void ResultFile::write() const {
  if (m_path.empty()) return;
  // The context is indented for readers. Each row is one line: raw samples would fill thousands of lines. Bytes that
  // are not UTF-8 (from the environment or a file name) are replaced, so that they do not prevent the file.
  constexpr auto replace = Json::error_handler_t::replace;
  std::string text = "{\"context\": " + m_context.dump(1, ' ', false, replace) + ",\n\"benchmarks\": [";
  const char* separator = "\n";
  for (const auto& row : m_rows) {
    text += separator + row.dump(-1, ' ', false, replace);
    separator = ",\n";
  }
  write_atomically(m_path, text + "\n]}\n");
}

}  // namespace gradcomp::report
