// What a method sends does not depend on whether its host looks at what kernels wrote (Context::host_looks); and where
// it does not look, as on a device, the searches of thresholds make it wait for nothing but the sizes.
#include <gmock/gmock.h>

#include <limits>

#include "conformance/cases.hpp"
#include "conformance/listening.hpp"
#include "conformance/simulated_rank.hpp"
#include "same_bits.hpp"

namespace gradcomp::conformance {
namespace device_path_test {

constexpr const char* sizes_wait = "gradcomp::kernels::Selector::choose";

/// One message, of a method of one round.
std::vector<std::byte> produce(SimulatedRank& worker, std::int64_t step, bool host_looks) {
  const Exec exec;
  Context context{1, step, 0, 1};
  context.host_looks = host_looks;
  worker.message = worker.compressor->produce(exec, 0, worker.step(context), *worker.state);
  exec.fence("gradcomp::conformance::produced");
  return to_host(worker.message.payload.data(), worker.message.size);
}

bool is_sparsifier(const MethodSpec& method) {
  const Info& info = method.compressor->info();
  return info.family == Info::Family::sparsifier && info.host_sizes && info.rounds.size() == 1 &&
         info.rounds[0] == MessageKind::bytes;
}

/// Whether the spec under test names a coder, of indices, values or bytes, which waits for sizes of its own.
bool names_a_coder() {
  const std::string& spec = Conformance::GetParam();
  return spec.find_first_of('+') != std::string::npos || spec.find("index=") != std::string::npos ||
         spec.find("values=") != std::string::npos;
}

bool searches_thresholds(const MethodSpec& method) {
  const std::string& name = method.compressor->info().name;
  return name == "sidco" || name == "redsync" || name == "gaussian_k" || name == "dgc";
}

/// A function, since compilers warn about code that a constant makes unreachable.
bool host_may_look() { return device_is_host; }

/// Segments of which thresholds are searched, small ones and an empty one.
Layout mixed_layout() {
  Layout layout;
  return layout.add("a", {8000}).add("b", {0}).add("c", {50, 61}).add("d", {1}).add("e", {31}).add("f", {1003});
}

void expect_same(const MethodSpec& method, const Layout& layout, const NamedData& data) {
  SimulatedRank looking(method, layout), blind(method, layout);
  std::int64_t step = 0;
  for (const float factor : {1.0f, 0.8f, 0.1f, 30.0f, 0.0f, 1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    SCOPED_TRACE("step " + std::to_string(step));
    auto values = data.make(layout.count(), 1 + static_cast<std::uint64_t>(step));
    const std::size_t last = std::isfinite(factor) ? values.size() : std::min<std::size_t>(values.size(), 1);
    for (std::size_t i = values.size() - last; i < values.size(); ++i) values[i] *= factor;
    for (SimulatedRank* worker : {&looking, &blind}) worker->set_gradient(values);
    ASSERT_EQ(produce(looking, step, true), produce(blind, step, false));
    ASSERT_EQ(looking.state->kept, blind.state->kept);
    const auto memory = looking.memory(), other = blind.memory();
    ASSERT_TRUE(test::same_bits(memory, other));
    ++step;
  }
}

TEST_P(Conformance, SendsTheSameWhereTheHostDoesNotLook) {
  const MethodSpec spec = method(feedbacks().back());
  if (!host_may_look() || !is_sparsifier(spec) || names_a_coder()) return;
  for (const Layout& layout : {mixed_layout(), Layout::flat(0), Layout::flat(1)}) {
    for (const NamedData& values : data()) {
      if (!is_default() && values.name != "laplace" && values.name != "ties") continue;
      SCOPED_TRACE(values.name + " " + std::to_string(layout.count()));
      expect_same(spec, layout, values);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Conformance, SearchesWaitForTheSizesAlone) {
  const MethodSpec spec = method("none");
  if (!searches_thresholds(spec) || names_a_coder()) return;
  const bool gamma = GetParam().find("sid=gamma") != std::string::npos;  // fitted by the host
  SimulatedRank worker(spec, Layout::flat(200003));
  for (std::int64_t step = 0; step < 6; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    auto values = make_data("laplace", worker.count, static_cast<std::uint64_t>(step));
    for (float& v : values) v *= step == 4 ? 0.1f : 1.0f;
    worker.set_gradient(values);
    const Listening listening;
    produce(worker, step, false);
    auto waits = listening.heard().waits;
    std::erase(waits, "gradcomp::conformance::produced");
    const auto sizes = std::count(waits.begin(), waits.end(), sizes_wait);
    EXPECT_THAT(waits, testing::SizeIs(sizes + (gamma ? 1 : 0)));
    EXPECT_GE(sizes, 1);
    EXPECT_LE(sizes, 4);
  }
}

/// A kernel writes the header of a payload, or marks a sum, where the host cannot.
constexpr int header_launches = device_is_host ? 0 : 1;

/// Those of docs/devices.md: of compress in a step like the one before, where the host does not look.
TEST(Launches, OfStepsThatSearchThresholds) {
  struct Expected {
    const char* method;
    int launches, waits;
  };
  for (const Expected& expected : {Expected{"top_k", 10, 1},
                                   {"sidco", 10, 1},
                                   {"sidco:sid=gamma", 10, 2},
                                   {"redsync", 14, 1},
                                   {"gaussian_k", 12, 1},
                                   {"dgc", 17, 1},
                                   {"gradient_dropping", 13, 1}}) {
    SCOPED_TRACE(expected.method);
    SimulatedRank worker(parse_method(with_option(expected.method, "feedback", "none")), Layout::flat(200003));
    worker.set_gradient(make_data("laplace", worker.count, 1));
    for (std::int64_t step = 0; step < 4; ++step) produce(worker, 0, false);
    const Listening listening;
    produce(worker, 0, false);
    EXPECT_EQ(listening.heard().launches, expected.launches + header_launches);
    EXPECT_THAT(listening.heard().waits, testing::SizeIs(expected.waits + 1)) << "with that of the test";
  }
}

/// A whole step of four ranks as rank 0 sees it, where the host does not look: compress, and decode four payloads or
/// finish the sum, in a step like the one before.
TEST(Launches, OfAWholeStep) {
  struct Expected {
    const char* method;
    int compress, decompress, waits;
  };
  constexpr int ranks = 4;
  for (const Expected& expected : {Expected{"fp16", 1, 1, 0},
                                   {"qsgd", 2, ranks, 0},
                                   {"ef_sign", 3, ranks, 0},
                                   {"top_k:feedback=none", 10 + header_launches, ranks, 1},
                                   {"powersgd", 8 + header_launches, 4, 0}}) {
    SCOPED_TRACE(expected.method);
    Layout layout;
    layout.add("matrix", {400, 500}).add("vector", {203});
    SimulatedRank own(parse_method(expected.method), layout);
    const Compressor& method = *own.compressor;
    own.set_gradient(make_data("laplace", own.count, 1));
    const Exec exec;
    const Faults faults;
    int compress = 0, decompress = 0;
    std::size_t waits = 0;
    for (int i = 0; i < 5; ++i) {
      Context context{1, 0, 0, ranks};
      context.host_looks = false;
      const Step step = own.step(context, faults.counts());
      const Listening sending;
      for (int round = 0; round < method.rounds(); ++round) {
        own.message = method.produce(exec, round, step, *own.state);
        method.consume(exec, round, own.message, step, *own.state);
      }
      compress = sending.heard().launches;
      waits = sending.heard().waits.size();
      const Listening receiving;
      if (own.message.kind == MessageKind::bytes) {
        const Span<const std::byte> payload(own.message.payload.data(), static_cast<std::size_t>(own.message.size));
        for (int r = 0; r < ranks; ++r)
          method.decode_add(exec, {payload, context, 0.25f, faults.counts()}, *own.state, step.mean);
      } else {
        method.finish(exec, step, *own.state);
      }
      decompress = receiving.heard().launches;
      waits += receiving.heard().waits.size();
    }
    EXPECT_EQ(compress, expected.compress);
    EXPECT_EQ(decompress, expected.decompress);
    EXPECT_EQ(waits, static_cast<std::size_t>(expected.waits));
  }
}

}  // namespace device_path_test
}  // namespace gradcomp::conformance
