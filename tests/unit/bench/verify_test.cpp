// The check of gradcomp-bench: right answers pass, and every broken answer is found.
#include "verify.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gradcomp/core/error.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"
#include "gradient.hpp"

namespace gradcomp::bench {
namespace verify_test {

constexpr index_t count = 1000;

Span<const float> view(const Vector<float>& vector) { return Span<const float>(vector.data(), vector.size()); }

void set(const Vector<float>& vector, index_t i, float value) {
  Kokkos::deep_copy(Kokkos::subview(vector, static_cast<std::size_t>(i)), value);
}

TEST(Verify, IdentityFindsOneBrokenElement) {
  const Exec exec;
  const auto gradient = laplace_gradient(exec, count, 1);
  const Vector<float> memory("memory", count);
  EXPECT_NO_THROW(verify_identity(exec, view(gradient), view(gradient), view(memory)));
  for (const float broken : {1e-4f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    set(memory, 777, broken);
    try {
      verify_identity(exec, view(gradient), view(gradient), view(memory));
      ADD_FAILURE() << broken << " was not found";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("element 777"), std::string::npos) << error.what();
    }
  }
}

TEST(Verify, EveryMethodPassesAndAChangedAnswerFails) {
  const Exec exec;
  const auto gradient = laplace_gradient(exec, count, 1);
  const auto layout = layer_like(count);
  for (const auto& entry : all_entries()) {
    const auto method = parse_method(entry.info.name);
    OneRank loop(method, layout, 1);
    KeptState start;
    for (int call = 0; call < 3; ++call) {  // gives the state more steps than that of another loop
      loop.forget(exec);
      start.keep(exec, loop);
      loop.compress(exec, view(gradient));
      loop.decompress(exec);
    }
    EXPECT_NO_THROW(verify(exec, loop, method, layout, view(gradient), 1, start)) << entry.info.name;
    set(loop.out(), count - 1, 0.125f);  // no method decodes that from gradients of scale 1e-3
    EXPECT_THROW(verify(exec, loop, method, layout, view(gradient), 1, start), Error) << entry.info.name;
    if (!entry.info.scale_free) continue;  // such a method may send nothing
    Kokkos::deep_copy(loop.out(), 0.0f);
    EXPECT_THROW(verify(exec, loop, method, layout, view(gradient), 1, start), Error)
        << entry.info.name << ": nothing decoded";
  }
}

// Methods without a memory, and with a state that begins anew in every other loop.
TEST(Verify, FindsAWrongAnswerOfAMethodWithAState) {
  const Exec exec;
  const auto gradient = laplace_gradient(exec, count, 1);
  const auto layout = layer_like(count);
  for (const char* spec : {"signum", "powersgd:feedback=none", "sidco:feedback=none", "redsync:feedback=none"}) {
    const auto method = parse_method(spec);
    OneRank loop(method, layout, 1);
    ASSERT_TRUE(loop.has_state() && !loop.has_memory()) << spec;
    KeptState start;
    for (int call = 0; call < 3; ++call) {
      loop.forget(exec);
      start.keep(exec, loop);
      loop.compress(exec, view(gradient));
      loop.decompress(exec);
    }
    EXPECT_NO_THROW(verify(exec, loop, method, layout, view(gradient), 1, start)) << spec;
    float last = 0;
    Kokkos::deep_copy(last, Kokkos::subview(loop.out(), static_cast<std::size_t>(count - 1)));
    set(loop.out(), count - 1, last == 0 ? 1e-3f : -last);
    EXPECT_THROW(verify(exec, loop, method, layout, view(gradient), 1, start), Error) << spec;
  }
}

}  // namespace verify_test
}  // namespace gradcomp::bench
