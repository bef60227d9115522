// A bucket of more than 2^31 elements: an index of 32 bits, or a size in bytes of 32 bits, shows here. Its gradient and
// its mean take no memory: the same 16 MiB are mapped again and again, except for what lies above 2^31.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>

#include "conformance/cases.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "skips.hpp"

namespace gradcomp::conformance {
namespace giant_test {

constexpr index_t chunk = index_t{1} << 22;  ///< elements that are mapped again and again
constexpr index_t edge = index_t{1} << 31, count = edge + chunk - 3;

/// `count` floats. Those below `edge` repeat the first `chunk` of them; those above are its own.
class Mapped {
 public:
  Mapped() {
    constexpr auto bytes = static_cast<std::size_t>(chunk) * sizeof(float),
                   chunks = static_cast<std::size_t>(edge / chunk) + 1;
    const int file = memfd_create("gradcomp giant", 0);
    void* const place = mmap(nullptr, bytes * chunks, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(file >= 0 && place != MAP_FAILED && ftruncate(file, static_cast<off_t>(2 * bytes)) == 0, "no memory file");
    m_data = static_cast<float*>(place);
    for (std::size_t i = 0; i < chunks; ++i) {
      const void* at = mmap(m_data + static_cast<index_t>(i) * chunk, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED, file, i + 1 < chunks ? 0 : static_cast<off_t>(bytes));
      require(at != MAP_FAILED, "cannot map part {}", i);
    }
    close(file);
  }
  ~Mapped() { munmap(m_data, static_cast<std::size_t>(edge + chunk) * sizeof(float)); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  float& operator[](index_t i) const { return m_data[i]; }
  Span<float> span() const { return Span<float>(m_data, static_cast<std::size_t>(count)); }

 private:
  float* m_data = nullptr;
};

/// One step of one rank with `spec`: mean, which is zero before, becomes the estimate.
void send(const std::string& spec, const Mapped& gradient, const Mapped& mean) {
  const MethodSpec method = parse_method(spec + ":feedback=none");
  const Compressor& compressor = *method.compressor;
  const auto state = compressor.prepare(Layout::flat(count));
  const Exec exec;
  Faults faults;
  Source source;
  source.count = count;
  source.gradient = gradient.span().data();
  const Step step{source, mean.span(), Context{}, faults.counts()};
  Message message;
  for (int round = 0; round < compressor.rounds(); ++round) {
    message = compressor.produce(exec, round, step, *state);
    if (message.kind == MessageKind::bytes) continue;
    if (message.result != message.data)
      std::memcpy(message.result, message.data, static_cast<std::size_t>(message.bytes()));
    compressor.consume(exec, round, message, step, *state);
  }
  if (compressor.rounds() == 1 && message.kind == MessageKind::bytes) {
    compressor.decode_add(exec,
                          {Span<const std::byte>(message.payload.data(), static_cast<std::size_t>(message.size)),
                           {},
                           1.0f,
                           faults.counts()},
                          *state, mean.span());
  } else {
    compressor.finish(exec, step, *state);
  }
  faults.fetch(exec);
  EXPECT_FALSE(faults.diverged());
}

class Giant : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_is_host) GTEST_SKIP() << "only hosts map the same memory twice";
    if (kernels::lanes_are_threads) GTEST_SKIP() << "2^31 fibres take hours";
    for (index_t i = 0; i < chunk; ++i) {
      gradient[i] = static_cast<float>(i % 201 - 100) * 1e-3f;
      gradient[edge + i] = -gradient[i];
    }
    gradient[edge + 1] = -200;
    gradient[count - 1] = 100;
  }
  Mapped gradient, mean;
};

TEST_F(Giant, TheLargestElementsAreSentWhereverTheyAre) {
  send("top_k:ratio=9.4e-10", gradient, mean);  // k = 2
  EXPECT_EQ(mean[edge + 1], -200);
  EXPECT_EQ(mean[count - 1], 100);
  for (index_t i = 0; i < chunk; ++i) ASSERT_EQ(mean[i], 0) << i;
}

TEST_F(Giant, RandomIndicesAreFromTheWholeBucket) {
  send("random_k:ratio=0.0001:scale=none", gradient, mean);
  index_t above = 0;
  for (index_t i = edge; i < count; ++i) {
    if (mean[i] == 0) continue;
    ++above;
    ASSERT_EQ(mean[i], gradient[i]) << i;
  }
  const double expected = 1e-4 * static_cast<double>(count - edge);  // of elements that are not 0, less 1 in 201
  EXPECT_NEAR(static_cast<double>(above), expected, 6 * std::sqrt(expected));
}

TEST_F(Giant, EveryElementHasItsSign) {
  send("sign", gradient, mean);
  for (index_t i = edge; i < count; ++i) {
    ASSERT_TRUE(gradient[i] == 0 || std::signbit(mean[i]) == std::signbit(gradient[i])) << i;
  }
}

}  // namespace giant_test
}  // namespace gradcomp::conformance
