#pragma once
// A checkpoint file: named arrays of bytes, with a checksum of everything.
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "gradcomp/core/compressor.hpp"

namespace gradcomp::train {

class Snapshot {
 public:
  /// Throws Error if there is an array of this name.
  void put(const std::string& name, std::span<const std::byte> bytes);
  /// Throws Error, naming the array, unless the checkpoint has it with the same number of bytes.
  void get(const std::string& name, std::span<std::byte> bytes) const;

  /// Device or host memory. put() copies it as it is now; both functions wait for `exec`.
  void put(const Exec& exec, const std::string& name, const MemoryView& view);
  void get(const Exec& exec, const std::string& name, const MemoryView& view) const;

  /// A vector of numbers; get() resizes it.
  template <class T>
  void put(const std::string& name, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(name, std::as_bytes(std::span(values)));
  }
  template <class T>
  void get(const std::string& name, std::vector<T>& values) const {
    values.resize(bytes_of(name) / sizeof(T));
    get(name, std::as_writable_bytes(std::span(values)));
  }

  /// The file: magic "GCCK", u32 version, then per array u64 length of the name, u64 length of the bytes, both; at the
  /// end the CRC-32 of all before. Little endian.
  std::vector<std::byte> encode() const;
  /// Throws Error naming `path` if encode() did not write the file.
  static Snapshot decode(std::span<const std::uint8_t> file, const std::string& path);

 private:
  void add(const std::string& name, std::vector<std::byte> bytes);
  std::size_t bytes_of(const std::string& name) const;

  std::map<std::string, std::vector<std::byte>> m_arrays;
};

}  // namespace gradcomp::train
