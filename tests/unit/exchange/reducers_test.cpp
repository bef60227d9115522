// Reducers: their names, which methods they refuse, and granularity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/method/spec.hpp"
#include "unit/comm/fake_transport.hpp"
#include "unit/exchange/two_rounds.hpp"

namespace gradcomp {
namespace reducers_test {

using testing::HasSubstr;

std::string refusal(const std::string& name, const Compressor& compressor) {
  try {
    reducer_for(name, compressor.info());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Reducers, AreChosenByName) {
  const test::TwoRounds sums;
  EXPECT_EQ(refusal("allreduce", sums), "");
  EXPECT_EQ(refusal("local", sums), "");
  EXPECT_THAT(refusal("parameter_server", sums),
              testing::AllOf(HasSubstr("unknown reducer 'parameter_server'; allowed: "), HasSubstr("allgather"),
                             HasSubstr("two_phase")));
  EXPECT_THAT(refusal("allgather", sums), HasSubstr("two_rounds"));
  for (const std::string sparse : {"gtop_k", "ok_topk"}) {
    EXPECT_THAT(refusal(sparse, sums),
                HasSubstr("reducer " + sparse + ": it merges sparse entries, and method two_rounds"));
    EXPECT_THAT(refusal(sparse, *parse_method("qsgd").compressor), HasSubstr("qsgd sends none"));
    EXPECT_EQ(refusal(sparse, *parse_method("top_k").compressor), "");
  }
  EXPECT_THAT(refusal("vote", sums), HasSubstr("reducer vote: it counts signs, and method two_rounds"));
  EXPECT_THAT(refusal("vote", *parse_method("ef_sign").compressor), HasSubstr("ef_sign"));
  EXPECT_THAT(refusal("two_phase", sums),
              HasSubstr("reducer two_phase: it carries one round of bytes, and method two"));
  EXPECT_THAT(refusal("two_phase", *parse_method("signum").compressor), HasSubstr("signum sends signs; allowed: vote"));
  EXPECT_THAT(refusal("two_phase", *parse_method("top_k").compressor), HasSubstr("top_k sends chosen ones"));
  EXPECT_THAT(refusal("two_phase", *parse_method("terngrad").compressor), HasSubstr("terngrad has other messages"));
  for (const std::string code : {"2bit", "base3"}) {
    EXPECT_EQ(refusal("two_phase", *parse_method("terngrad:code=" + code).compressor), "");
  }
}

TEST(Reducers, EveryMethodsReducersExistAndTakeIt) {
  for (const Entry& entry : all_entries()) {
    const MethodSpec spec = parse_method(entry.info.name);
    for (const std::string& name : reducers_of(entry.info)) {
      EXPECT_EQ(refusal(name, *spec.compressor), "") << entry.info.name;
      test::FakeTransport comm(2);
      const Faults faults;
      EXPECT_NO_THROW(Reduction(parse_method(entry.info.name + ":reducer=" + name), Layout::flat(10), comm, faults));
      const bool bytes = entry.info.rounds[0] == MessageKind::bytes;
      EXPECT_NE(refusal(bytes ? "allreduce" : "allgather", *spec.compressor), "") << entry.info.name;
    }
  }
}

TEST(Reducers, OptionsAreThoseOfTheReducersThatAMethodAllows) {
  EXPECT_NO_THROW(parse_method("top_k:reducer=gtop_k:reducer.variant=paper"));
  EXPECT_NO_THROW(parse_method("top_k:reducer=ok_topk:reducer.interval=5:reducer.select=off"));
  EXPECT_THROW(parse_method("top_k:reducer.interval=0"), Error);
  EXPECT_THROW(parse_method("top_k:reducer.variant=other"), Error);
  EXPECT_THROW(parse_method("qsgd:reducer.variant=paper"), Error);
  EXPECT_THROW(parse_method("qsgd:reducer=gtop_k"), Error);
  EXPECT_NO_THROW(parse_method("qsgd:reducer=two_phase:reducer.owner_feedback=none"));
  EXPECT_EQ(parse_method("one_bit").common.text("reducer"), "two_phase");
  EXPECT_THROW(parse_method("terngrad:reducer=two_phase"), Error);
}

// A flag in any payload is seen, and the report has the bytes of the message.
TEST(Reducers, AllgatherAddsPayloadsWithEqualWeight) {
  test::FakeTransport comm(3);
  const MethodSpec spec = parse_method("top_k:ratio=0.5:feedback=none");
  Faults faults;
  Reduction reduction(spec, Layout::flat(100), comm, faults);
  Vector<float> gradient("gradient", 100), out("out", 100);
  const auto values = Kokkos::create_mirror_view(gradient);
  for (std::size_t i = 0; i < 100; ++i) values(i) = static_cast<float>(i);
  Kokkos::deep_copy(gradient, values);
  const Exec exec;
  for (const bool flagged : {false, true}) {
    values(3) = flagged ? Kokkos::Experimental::infinity_v<float> : 3.0f;
    Kokkos::deep_copy(gradient, values);
    reduction.begin(exec, gradient, out, {1, 0, 0, 3}, nullptr);
    reduce(reduction, exec);
    faults.fetch(exec);
    EXPECT_EQ(faults.diverged(), flagged);
    EXPECT_EQ(reduction.bytes().header, payload_header_bytes);
    if (flagged) continue;
    EXPECT_EQ(reduction.bytes().payload, spec.compressor->payload_bytes(Layout::flat(100), 50));
    const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
    for (std::size_t i = 50; i < 100; ++i) EXPECT_NEAR(got(i), static_cast<float>(i), 1e-5f);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(got(i), 0.0f);
  }
  EXPECT_GT(reduction.work_bytes(), 0);
}

}  // namespace reducers_test
}  // namespace gradcomp
