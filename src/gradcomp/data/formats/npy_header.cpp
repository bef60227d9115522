#include "gradcomp/data/detail/npy_header.hpp"

#include <charconv>

#include "gradcomp/core/error.hpp"

namespace gradcomp::data::detail {
namespace {

/// Reads tokens from the front of a text.
class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : m_path(path), m_text(text), m_rest(text) {}

  /// If the text continues with `token`, takes it and returns true.
  bool take(std::string_view token) {
    skip_space();
    if (!m_rest.starts_with(token)) return false;
    m_rest.remove_prefix(token.size());
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token)) fail(fmt::format("expected {}", token));
  }

  /// A string in single or double quotes, without escapes.
  std::string quoted() {
    skip_space();
    const char quote = m_rest.empty() ? '\0' : m_rest.front();
    if (quote != '\'' && quote != '"') fail("expected a string");
    const auto end = m_rest.find(quote, 1);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string found(m_rest.substr(1, end - 1));
    m_rest.remove_prefix(end + 1);
    return found;
  }

  bool boolean() {
    if (take("True")) return true;
    expect("False");
    return false;
  }

  /// (), (3,) or (3, 4): non-negative integers.
  std::vector<index_t> tuple() {
    std::vector<index_t> numbers;
    expect("(");
    while (!take(")")) {
      skip_space();
      index_t number = 0;
      const auto [end, error] = std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), number);
      if (error != std::errc() || number < 0) fail("expected an extent of the shape");
      m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
      numbers.push_back(number);
      take("L");  // Python 2's long integers
      if (!take(",")) {
        expect(")");
        if (numbers.size() == 1) fail("the shape is not a tuple");  // in Python, (3) is a number
        break;
      }
    }
    return numbers;
  }

  bool at_end() {
    skip_space();
    return m_rest.empty();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("'{}': the .npy header does not describe an array: {} at byte {}", m_path, what,
                            m_text.size() - m_rest.size()));
  }

 private:
  void skip_space() {
    while (!m_rest.empty() && (m_rest.front() == ' ' || m_rest.front() == '\n')) m_rest.remove_prefix(1);
  }

  const std::string& m_path;
  std::string_view m_text, m_rest;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& path, std::string_view text) {
  Reader reader(path, text);
  NpyHeader header;
  bool descr = false, order = false, shape = false;
  reader.expect("{");
  while (!reader.take("}")) {
    const std::string key = reader.quoted();
    reader.expect(":");
    if (key == "descr" && !descr) {
      descr = true;
      require(!reader.take("["), "'{}' holds records; allowed: arrays of floats ('<f2', '<f4', '<f8')", path);
      header.descr = reader.quoted();
    } else if (key == "fortran_order" && !order) {
      order = true;
      header.fortran_order = reader.boolean();
    } else if (key == "shape" && !shape) {
      shape = true;
      header.shape = reader.tuple();
    } else {
      reader.fail("unknown or repeated key '" + key.substr(0, 32) + "'");
    }
    if (!reader.take(",")) {
      reader.expect("}");
      break;
    }
  }
  if (!descr || !order || !shape) reader.fail("descr, fortran_order or shape is missing");
  if (!reader.at_end()) reader.fail("something follows the dictionary");
  return header;
}

}  // namespace gradcomp::data::detail
