// The rules that a group must keep on one rank and between ranks.
#include <algorithm>
#include <cstring>

#include "fake.hpp"

namespace fake_nccl {
namespace {

constexpr const char* kind_names[] = {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter",
                                      "ncclBroadcast", "ncclSend",      "ncclRecv"};

void mix(std::uint64_t& hash, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 0xff)) * 1099511628211u;
}

struct Range {
  const char* begin;
  std::size_t bytes;
  std::size_t operation;
  bool written;
};

std::vector<Range> ranges_of(const Group& group, int rank, int ranks) {
  std::vector<Range> ranges;
  const auto n = static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < group.operations.size(); ++i) {
    const Operation& o = group.operations[i];
    const std::size_t bytes = o.count * size_of(o.type);
    const bool reads = o.kind != Kind::receive && !(o.kind == Kind::broadcast && o.number != rank);
    if (reads)
      ranges.push_back(
          {static_cast<const char*>(o.from), o.kind == Kind::reduce_scatter ? n * bytes : bytes, i, false});
    if (o.kind != Kind::send)
      ranges.push_back({static_cast<const char*>(o.to), o.kind == Kind::all_gather ? n * bytes : bytes, i, true});
  }
  return ranges;
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

bool is_collective(const Operation& o) { return o.kind != Kind::send && o.kind != Kind::receive; }

std::string text_of(const Operation& o) {
  return std::string(kind_names[static_cast<int>(o.kind)]) + "(count " + std::to_string(o.count) + ", type " +
         std::to_string(o.type) + ", op or root " + std::to_string(o.number) + ")";
}

std::string overlap_in(const Group& group, int rank, int ranks) {
  const auto ranges = ranges_of(group, rank, ranks);
  for (const Range& a : ranges) {
    for (const Range& b : ranges) {
      const bool meet = a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
      if (a.operation == b.operation || !a.written || !meet) continue;
      return text_of(group.operations[a.operation]) + " writes what " + text_of(group.operations[b.operation]) +
             " of the same group uses";
    }
  }
  return "";
}

std::vector<Signature> signatures_of(const Group& group, int ranks) {
  std::vector<Signature> all(static_cast<std::size_t>(ranks));
  for (Signature& s : all) s.group = group.number;
  for (const Operation& o : group.operations) {
    if (is_collective(o)) {
      for (Signature& s : all) {
        if (s.collectives++ == 0) text_of(o).copy(s.first, sizeof s.first - 1);
        for (const std::uint64_t part :
             {std::uint64_t(o.kind), std::uint64_t(o.count), std::uint64_t(o.type), std::uint64_t(o.number)}) {
          mix(s.collective_hash, part);
        }
      }
      continue;
    }
    Signature& s = all[static_cast<std::size_t>(o.number)];
    ++(o.kind == Kind::send ? s.sends : s.receives);
    mix(o.kind == Kind::send ? s.send_hash : s.receive_hash, o.count * size_of(o.type));
  }
  return all;
}

std::string difference_in(const Group& group, int rank) {
  for (std::size_t p = 0; p < group.theirs.size(); ++p) {
    const Signature &mine = group.own[p], &other = group.theirs[p];
    const std::string ranks = "rank " + std::to_string(rank) + " and rank " + std::to_string(p);
    if (mine.group != other.group) return ranks + " are at different groups";
    if (mine.collectives != other.collectives || mine.collective_hash != other.collective_hash) {
      return ranks + " make different collective calls: " + std::string(mine.first, strnlen(mine.first, 95)) + " and " +
             std::string(other.first, strnlen(other.first, 95));
    }
    if (mine.sends != other.receives || mine.send_hash != other.receive_hash || mine.receives != other.sends ||
        mine.receive_hash != other.send_hash) {
      return ranks + ": what one sends the other does not receive";
    }
  }
  return "";
}

}  // namespace fake_nccl
