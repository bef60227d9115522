#include "gradcomp/core/standard_output.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/utf8.hpp"

namespace gradcomp {

void let_writes_fail() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void finish_standard_output() {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const int reason = errno;
  require(written, "cannot write to the standard output{}{}", reason != 0 ? ": " : "",
          reason != 0 ? std::strerror(reason) : "");
}

void print_error(std::string_view program, std::string_view text) {
  fmt::print(stderr, "{}: error: {}\n", program, as_line(text));
}

}  // namespace gradcomp
