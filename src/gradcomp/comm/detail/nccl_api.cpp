#include "gradcomp/comm/detail/nccl_api.hpp"

namespace gradcomp::comm {

std::string nccl_text(ncclResult_t code, ncclComm_t comm) {
  const char* last = ncclGetLastError(comm);
  std::string more = last == nullptr ? "" : last;
  for (char& c : more) c = c == '\n' ? ' ' : c;
  return more.empty() ? ncclGetErrorString(code) : fmt::format("{}: {}", ncclGetErrorString(code), more);
}

void check_nccl(ncclResult_t code, const char* what, ncclComm_t comm) {
  if (code != ncclSuccess) throw Error(fmt::format("{}: {}", what, nccl_text(code, comm)));
}

}  // namespace gradcomp::comm
