#pragma once
// What the distributed tests share. A test body runs on all ranks; between its collective calls it uses EXPECT, never
// ASSERT: a rank that returned early would leave the others waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "copies.hpp"
#include "gradcomp/comm/agree.hpp"
#include "gradcomp/comm/mpi_session.hpp"
#include "gradcomp/comm/over_ranks.hpp"
#include "gradcomp/comm/transports/mpi.hpp"

namespace gradcomp::test {

/// The session of main.cpp.
const MpiSession& session();

/// All ranks, over MPI, or over the transport that the environment names (tests/fake_nccl).
inline std::unique_ptr<Transport> world() {
  const char* other = std::getenv("GRADCOMP_TEST_TRANSPORT");
  return make_transport(other == nullptr ? "mpi" : other, MPI_COMM_WORLD);
}

/// Names of all transports that programs can choose.
inline std::vector<std::string> transports() {
  std::vector<std::string> names;
  for (const TransportEntry& entry : program_transports()) names.push_back(entry.name);
  return names;
}

/// Name of a test's parameter: letters, digits and _.
inline std::string test_name(const testing::TestParamInfo<std::string>& row) {
  std::string name = row.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

/// True on all ranks when the values are equal bit for bit on all ranks.
template <class T>
bool same_bits(Transport& comm, const std::vector<T>& values) {
  std::uint64_t hash = 14695981039346656037u;
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  for (const unsigned char c : bytes) hash = (hash ^ c) * 1099511628211u;
  return equal_over_ranks(comm, hash);
}

}  // namespace gradcomp::test
