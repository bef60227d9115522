#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

namespace {

struct Check {
  int ranks;

  void element(ReduceOp op, DType type) const {
    const bool integer = type != DType::f32 && type != DType::f16 && type != DType::bf16;
    require(op != ReduceOp::bor || integer, "allreduce: bitwise or needs an integer type");
  }
  void message(const char* what, int peer, int tag, int min_peer) const {
    require(tag >= 0 && tag <= max_tag, "{}: tag {} is not in [0, {}]", what, tag, max_tag);
    require(peer >= min_peer && peer < ranks, "{}: there is no rank {}; there are {}", what, peer, ranks);
  }
  void operator()(const AllReduce& c) const { element(c.op, c.type); }
  void operator()(const ReduceScatter& c) const { element(c.op, c.type); }
  void operator()(const Broadcast& c) const {
    require(c.root >= 0 && c.root < ranks, "broadcast: there is no rank {}; there are {}", c.root, ranks);
  }
  void operator()(const AllToAllV& c) const {
    require(std::ssize(c.parts->size) == ranks && std::ssize(c.parts->offset) == ranks,
            "alltoallv: {} sizes and {} offsets, {} ranks", c.parts->size.size(), c.parts->offset.size(), ranks);
  }
  void operator()(const Send& c) const { message("send", c.to, c.tag, 0); }
  void operator()(const Receive& c) const { message("receive", c.from, c.tag, any_rank); }
  template <class C>
  void operator()(const C&) const {}
};

}  // namespace

void check_call(const Call& call, int ranks) { std::visit(Check{ranks}, call); }

Found run(Transport& transport, const Exec& exec, const Call& call) {
  Completion completion = transport.start(exec, call);
  completion.wait();
  completion.order(exec);
  return completion.found();
}

}  // namespace gradcomp
