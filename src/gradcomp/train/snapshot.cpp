#include "gradcomp/train/snapshot.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/data/files.hpp"

namespace gradcomp::train {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr char magic[8] = {'G', 'C', 'C', 'K', 1, 0, 0, 0};

void append(std::vector<std::byte>& file, const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  file.insert(file.end(), first, first + bytes);
}

/// Reads `bytes` at the front of `rest` and drops them.
void take(std::span<const std::uint8_t>& rest, void* target, std::size_t bytes, const std::string& path) {
  require(bytes <= rest.size(), "checkpoint '{}' ends too early", path);
  if (bytes > 0) std::memcpy(target, rest.data(), bytes);
  rest = rest.subspan(bytes);
}

}  // namespace

void Snapshot::put(const std::string& name, std::span<const std::byte> bytes) {
  add(name, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void Snapshot::add(const std::string& name, std::vector<std::byte> bytes) {
  require(m_arrays.emplace(name, std::move(bytes)).second, "the checkpoint already has an array '{}'", name);
}

std::size_t Snapshot::bytes_of(const std::string& name) const {
  const auto found = m_arrays.find(name);
  require(found != m_arrays.end(), "the checkpoint has no array '{}'", name);
  return found->second.size();
}

void Snapshot::get(const std::string& name, std::span<std::byte> bytes) const {
  require(bytes_of(name) == bytes.size(), "the checkpoint has {} bytes of the array '{}', expected {}", bytes_of(name),
          name, bytes.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), m_arrays.at(name).data(), bytes.size());
}

void Snapshot::put(const Exec& exec, const std::string& name, const MemoryView& view) {
  const auto count = static_cast<std::size_t>(view.bytes);
  std::vector<std::byte> host(count);
  if (view.on_host) {
    std::memcpy(host.data(), view.data, count);
  } else {
    read_back(exec, Span<const std::byte>(view.on_device()), host.data(), "gradcomp::train::snapshot");
  }
  add(name, std::move(host));
}

void Snapshot::get(const Exec& exec, const std::string& name, const MemoryView& view) const {
  const auto count = static_cast<std::size_t>(view.bytes);
  std::vector<std::byte> host(count);
  get(name, std::span<std::byte>(host));
  if (view.on_host) {
    std::memcpy(view.data, host.data(), count);
    return;
  }
  Kokkos::deep_copy(exec, view.on_device(), HostSpan<const std::byte>(host.data(), count));
  wait(exec, "gradcomp::train::snapshot");
}

std::vector<std::byte> Snapshot::encode() const {
  std::vector<std::byte> file;
  append(file, magic, sizeof magic);
  for (const auto& [name, bytes] : m_arrays) {
    const std::uint64_t sizes[2] = {name.size(), bytes.size()};
    append(file, sizes, sizeof sizes);
    append(file, name.data(), name.size());
    append(file, bytes.data(), bytes.size());
  }
  const std::uint32_t crc = data::crc32(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  append(file, &crc, sizeof crc);
  return file;
}

Snapshot Snapshot::decode(std::span<const std::uint8_t> file, const std::string& path) {
  constexpr std::size_t crc_bytes = 4;
  require(file.size() >= sizeof magic + crc_bytes && std::memcmp(file.data(), magic, sizeof magic) == 0,
          "'{}' is not a checkpoint of this version", path);
  auto rest = file.first(file.size() - crc_bytes);
  require(data::crc32(rest.data(), rest.size()) == data::little_endian_32(file.data() + rest.size()),
          "checkpoint '{}' is damaged: its checksum is wrong", path);
  rest = rest.subspan(sizeof magic);
  Snapshot snapshot;
  while (!rest.empty()) {
    std::uint64_t sizes[2];
    take(rest, sizes, sizeof sizes, path);
    require(sizes[0] <= rest.size() && sizes[1] <= rest.size(), "checkpoint '{}' ends too early", path);
    std::string name(sizes[0], '\0');
    take(rest, name.data(), name.size(), path);
    require(sizes[1] <= rest.size(), "checkpoint '{}' ends too early", path);
    std::vector<std::byte> bytes(sizes[1]);
    take(rest, bytes.data(), bytes.size(), path);
    require(snapshot.m_arrays.emplace(name, std::move(bytes)).second, "checkpoint '{}' has the array '{}' twice", path,
            name);
  }
  return snapshot;
}

}  // namespace gradcomp::train
