// Moves bytes over MPI, and reduces as a ring does: the sum of an element begins at a rank that depends on its place,
// and 16-bit floats are rounded after every term. As with fmax(), a maximum or minimum ignores NaN.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "fake.hpp"
#include "gradcomp/kernels/quantise/casts.hpp"

namespace fake_nccl {
namespace {

using gradcomp::kernels::Bfloat;
using gradcomp::kernels::Half;

template <class T>
T apply(int op, T a, T b) {
  if (op == ncclSum) return static_cast<T>(a + b);
  if constexpr (std::is_floating_point_v<T>) return op == ncclMax ? std::fmax(a, b) : std::fmin(a, b);
  return op == ncclMax ? std::max(a, b) : std::min(a, b);
}

template <class Format>
struct Rounded {
  std::uint16_t bits;
};
template <class Format>
Rounded<Format> apply(int op, Rounded<Format> a, Rounded<Format> b) {
  return {Format::encode(apply(op, Format::decode(a.bits), Format::decode(b.bits)))};
}

template <class T>
void combine(const char* all, std::size_t count, int ranks, int op, void* result) {
  const auto n = static_cast<std::size_t>(ranks);
  const auto term = [&](std::size_t r, std::size_t i) {
    T value;
    std::memcpy(&value, all + (r * count + i) * sizeof(T), sizeof(T));
    return value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = (i * n / count + 1) % n;
    T value = term(first, i);
    for (std::size_t k = 1; k < n; ++k) value = apply(op, value, term((first + k) % n, i));
    std::memcpy(static_cast<char*>(result) + i * sizeof(T), &value, sizeof(T));
  }
}

void combine(const Operation& o, const char* all, int ranks) {
  switch (o.type) {
    case ncclInt8:
      return combine<std::int8_t>(all, o.count, ranks, o.number, o.to);
    case ncclUint8:
      return combine<std::uint8_t>(all, o.count, ranks, o.number, o.to);
    case ncclInt32:
      return combine<std::int32_t>(all, o.count, ranks, o.number, o.to);
    case ncclInt64:
      return combine<std::int64_t>(all, o.count, ranks, o.number, o.to);
    case ncclFloat16:
      return combine<Rounded<Half>>(all, o.count, ranks, o.number, o.to);
    case ncclBfloat16:
      return combine<Rounded<Bfloat>>(all, o.count, ranks, o.number, o.to);
    case ncclFloat32:
      return combine<float>(all, o.count, ranks, o.number, o.to);
    default:
      return;  // fake.cpp has refused it
  }
}

}  // namespace

void begin_moving(Group& group, MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  group.transfers.resize(group.operations.size());
  for (std::size_t i = 0; i < group.operations.size(); ++i) {
    const Operation& o = group.operations[i];
    Transfer& t = group.transfers[i];
    const std::size_t bytes = o.count * size_of(o.type),
                      blocks = o.kind == Kind::reduce_scatter ? std::size_t(ranks) : 1;
    const int n = static_cast<int>(bytes);
    if (o.from != nullptr)
      t.mine.assign(static_cast<const char*>(o.from), static_cast<const char*>(o.from) + blocks * bytes);
    t.mine.resize(blocks * bytes);
    t.all.resize(static_cast<std::size_t>(ranks) * bytes);
    if (o.kind == Kind::broadcast) {
      MPI_Ibcast(t.mine.data(), n, MPI_BYTE, o.number, comm, &t.request);
    } else if (o.kind == Kind::reduce_scatter) {
      MPI_Ialltoall(t.mine.data(), n, MPI_BYTE, t.all.data(), n, MPI_BYTE, comm, &t.request);
    } else if (o.kind == Kind::send) {
      MPI_Isend(t.mine.data(), n, MPI_BYTE, o.number, 0, comm, &t.request);
    } else if (o.kind == Kind::receive) {
      MPI_Irecv(t.mine.data(), n, MPI_BYTE, o.number, 0, comm, &t.request);
    } else {
      MPI_Iallgather(t.mine.data(), n, MPI_BYTE, t.all.data(), n, MPI_BYTE, comm, &t.request);
    }
  }
}

bool finish_moving(Group& group, MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  for (Transfer& t : group.transfers) {
    int ended = 0;
    MPI_Test(&t.request, &ended, MPI_STATUS_IGNORE);
    if (ended == 0) return false;
  }
  for (std::size_t i = 0; i < group.operations.size(); ++i) {
    const Operation& o = group.operations[i];
    const Transfer& t = group.transfers[i];
    const std::vector<char>& bytes = o.kind == Kind::all_gather ? t.all : t.mine;
    if (o.kind == Kind::all_reduce || o.kind == Kind::reduce_scatter) {
      combine(o, t.all.data(), ranks);
    } else if (o.kind != Kind::send && !bytes.empty()) {
      std::memcpy(o.to, bytes.data(), bytes.size());
    }
  }
  return true;
}

}  // namespace fake_nccl
