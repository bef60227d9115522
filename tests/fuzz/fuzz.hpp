#pragma once
// A fuzz program is main.cpp and one file that defines read() and seeds(): it runs read() on millions of inputs, which
// libFuzzer makes from the seeds. An input that is refused with Error is right. Everything else that leaves read() by
// an exception is a fault, and so are a report of a sanitizer, a leak, a call of broken(), and limits of time and
// memory.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradcomp::fuzz {

using Bytes = std::vector<std::uint8_t>;
using Input = std::span<const std::uint8_t>;

/// Gives the input to the readers of this family.
void read(Input input);

/// Inputs that the readers accept, from which fuzzing begins.
std::vector<Bytes> seeds();

/// Removes the first byte of the input and returns it; 0 if there is none. It chooses a reader or an option.
std::uint8_t take(Input& input);

/// The bytes of a text, or of the result of an encoder, behind the bytes that take() removes.
Bytes with_choice(std::vector<std::uint8_t> choice, std::string_view text);

/// The input as text.
std::string text_of(Input input);

/// The input and its CRC-32, so that what lies behind the check of a checksum is reached.
Bytes with_checksum(Input input);

/// Ends the program with this line: a reader has accepted what it must refuse, or has written outside its result.
[[noreturn]] void broken(const std::string& what);

/// A file in memory, for readers that take a path.
class File {
 public:
  explicit File(Input input);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const;

 private:
  int m_file;
};

}  // namespace gradcomp::fuzz
