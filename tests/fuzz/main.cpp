// What libFuzzer calls. The seeds of the family are written to the folder of inputs first.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "fuzz/fuzz.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::fuzz {

std::uint8_t take(Input& input) {
  if (input.empty()) return 0;
  const std::uint8_t first = input.front();
  input = input.subspan(1);
  return first;
}

Bytes with_choice(std::vector<std::uint8_t> choice, std::string_view text) {
  choice.insert(choice.end(), text.begin(), text.end());
  return choice;
}

std::string text_of(Input input) { return {input.begin(), input.end()}; }

Bytes with_checksum(Input input) {
  Bytes bytes(input.begin(), input.end());
  const std::uint32_t crc = data::crc32(bytes.data(), bytes.size());
  for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<std::uint8_t>(crc >> (8 * byte)));
  return bytes;
}

void broken(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

File::File(Input input) : m_file(::memfd_create("gradcomp_fuzz", 0)) {
  const auto size = static_cast<ssize_t>(input.size());
  if (m_file < 0 || ::write(m_file, input.data(), input.size()) != size) broken("cannot write a file in memory");
}

File::~File() { ::close(m_file); }

std::string File::path() const { return fmt::format("/proc/self/fd/{}", m_file); }

namespace {

void write_seeds(const std::filesystem::path& folder) {
  int number = 0;
  for (const Bytes& seed : seeds()) {
    const auto path = folder / fmt::format("seed{:04}", number++);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    try {
      read(seed);
    } catch (const Error& error) {
      broken(fmt::format("the seed {} is refused: {}", path.string(), error.what()));
    }
  }
}

}  // namespace
}  // namespace gradcomp::fuzz

/// The OpenMP library keeps memory of its own until the end of the process.
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so\n"; }

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  namespace fs = std::filesystem;
  Kokkos::initialize();
  std::atexit(Kokkos::finalize);
  for (int i = 1; i < *argc; ++i) {
    const fs::path folder = (*argv)[i];
    if (fs::is_directory(folder)) gradcomp::fuzz::write_seeds(folder);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    gradcomp::fuzz::read({data, size});
  } catch (const gradcomp::Error&) {
  }
  return 0;
}
