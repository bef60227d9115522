#pragma once
// What a program does about its standard output: the text must arrive, or the program says that it did not.

namespace gradcomp {

/// From now on a write to a pipe that nobody reads, or beyond the limit of file sizes, fails as any other write does;
/// by default a signal ends the process without a line.
void let_writes_fail();

/// Writes what is buffered. Throws Error if something that was printed could not be written.
void finish_standard_output();

}  // namespace gradcomp
