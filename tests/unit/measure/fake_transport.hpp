#pragma once
// A transport of two ranks. A script says what the other rank contributes to each allreduce, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gradcomp/comm/transports/callbacks.hpp"

namespace gradcomp {

/// `barriers`: counts barriers if it is given.
inline std::unique_ptr<Transport> scripted(std::vector<std::vector<std::int64_t>> other, int* barriers = nullptr) {
  Callbacks functions;
  functions.size = 2;
  functions.carry = [other = std::move(other), barriers, next = std::size_t{0}](const Exec&, const Call& call,
                                                                                Found&) mutable {
    if (std::holds_alternative<Barrier>(call)) {
      if (barriers != nullptr) ++*barriers;
      return true;
    }
    const auto* c = std::get_if<AllReduce>(&call);
    if (c == nullptr) {
      ADD_FAILURE() << "an operation that the measuring layer does not use: " << name_of(call);
      return true;
    }
    EXPECT_EQ(c->type, DType::i64);
    EXPECT_EQ(c->op, ReduceOp::max);
    const auto& theirs = other.at(next++);
    EXPECT_EQ(static_cast<index_t>(theirs.size()), c->count);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      static_cast<std::int64_t*>(c->receive)[i] = std::max(static_cast<const std::int64_t*>(c->send)[i], theirs[i]);
    }
    return true;
  };
  return make_callbacks(std::move(functions));
}

}  // namespace gradcomp
