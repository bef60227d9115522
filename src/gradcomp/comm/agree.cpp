#include "gradcomp/comm/agree.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "gradcomp/comm/over_ranks.hpp"

namespace gradcomp {
namespace {

std::uint64_t hash(const std::string& text) {
  std::uint64_t h = 14695981039346656037u;  // FNV-1a
  for (const unsigned char c : text) h = (h ^ c) * 1099511628211u;
  return h;
}

std::string shortened(const std::string& text) { return text.size() <= 200 ? text : text.substr(0, 200) + "..."; }

}  // namespace

std::vector<std::string> gather_texts(Transport& comm, const std::string& text) {
  const Exec exec;
  const auto bytes = static_cast<index_t>(text.size());
  const auto largest = static_cast<index_t>(max_over_ranks(comm, {static_cast<double>(bytes)})[0]);
  const index_t slot = aligned(largest + 1);
  const Vector<std::byte> own("gradcomp::comm::text", static_cast<std::size_t>(slot));
  const Vector<std::byte> all("gradcomp::comm::texts", static_cast<std::size_t>(slot * comm.size()));
  auto mirror = Kokkos::create_mirror_view(own);
  std::memcpy(mirror.data(), text.data(), text.size());
  Kokkos::deep_copy(own, mirror);
  const Blocks blocks = run(comm, exec, AllGatherV{own.data(), bytes, all.data(), slot * comm.size()}).blocks;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < blocks.size.size(); ++r) {
    texts.emplace_back(reinterpret_cast<const char*>(host.data()) + blocks.offset[r],
                       static_cast<std::size_t>(blocks.size[r]));
  }
  return texts;
}

void require_same_on_all_ranks(Transport& comm, const std::string& what, const std::string& text) {
  if (equal_over_ranks(comm, hash(text))) return;
  const auto texts = gather_texts(comm, text);
  const auto other = std::find_if(texts.begin(), texts.end(), [&](const auto& t) { return t != texts[0]; });
  throw AgreedError(fmt::format("ranks disagree on the {}: rank 0 has '{}', rank {} has '{}'", what,
                                shortened(texts[0]), other - texts.begin(),
                                shortened(other == texts.end() ? texts[0] : *other)));
}

void run_collectively(Transport& comm, const std::function<void()>& f) {
  std::optional<std::string> failure;
  try {
    f();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // the lowest failing rank has the largest mark; 0 means that no rank failed
  const auto mark = static_cast<int>(max_over_ranks(comm, {failure ? double(comm.size() - comm.rank()) : 0.0})[0]);
  if (mark == 0) return;
  const auto texts = gather_texts(comm, failure.value_or(""));
  throw AgreedError(texts[static_cast<std::size_t>(comm.size() - mark)]);
}

}  // namespace gradcomp
