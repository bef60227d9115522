#pragma once
// What a program does about its output: the text must arrive, or the program says that it did not; an error is one
// line.
#include <string_view>

namespace gradcomp {

/// From now on a write to a pipe that nobody reads, or beyond the limit of file sizes, fails as any other write does;
/// by default a signal ends the process without a line.
void let_writes_fail();

/// Writes what is buffered. Throws Error if something that was printed could not be written.
void finish_standard_output();

/// Prints "<program>: error: <text>" on standard error. It is one line, whatever names and values `text` quotes.
void print_error(std::string_view program, std::string_view text);

}  // namespace gradcomp
