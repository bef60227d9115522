// What a memory owes, rate x memory, does not change when the rate changes.
#include "gradcomp/feedback/memory_rate.hpp"

#include <gtest/gtest.h>

#include "gradcomp/core/read_back.hpp"
#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {
namespace memory_rate_test {

using Values = std::vector<float>;

class Memory {
 public:
  explicit Memory(const Values& values, bool aware = true) : m_rate(aware), m_values("memory", values.size()) {
    put(values);
  }
  void put(const Values& values) { Kokkos::deep_copy(m_values, HostSpan<const float>(values.data(), values.size())); }
  Values follow(double rate) {
    m_rate.follow(Exec(), rate, m_values);
    Values values(m_values.size());
    read_back(Exec(), Span<const float>(m_values), values.data(), "test");
    return values;
  }
  double rate() const { return *static_cast<const double*>(m_rate.memory(Role::residual_rate).data); }

 private:
  MemoryRate m_rate;
  Vector<float> m_values;
};

TEST(MemoryRate, KeepsRateTimesMemory) {
  Memory memory({0, 0});
  EXPECT_EQ(memory.follow(0.5), (Values{0, 0}));
  memory.put({3, -8});
  EXPECT_EQ(memory.follow(0.5), (Values{3, -8}));
  EXPECT_EQ(memory.follow(0.25), (Values{6, -16})) << "half the rate gives twice the memory";
  EXPECT_EQ(memory.follow(1), (Values{1.5, -4}));
  EXPECT_EQ(memory.rate(), 1);
}

TEST(MemoryRate, ForgetsWhatWasGatheredAtRateZero) {
  Memory memory({0});
  memory.follow(0);
  memory.put({7});
  EXPECT_EQ(memory.follow(0), Values{7});
  EXPECT_EQ(memory.follow(0.1), Values{0}) << "0 x 7 is owed";
}

TEST(MemoryRate, OfZeroAfterOthersScalesNothing) {
  Memory memory({0});
  memory.follow(0.5);
  memory.put({7});
  EXPECT_EQ(memory.follow(0), Values{7});
  EXPECT_EQ(memory.rate(), 0.5);
  EXPECT_EQ(memory.follow(0.25), Values{14});
}

TEST(MemoryRate, StaysFinite) {
  Memory memory({0, 0});
  memory.follow(1);
  memory.put({1e30f, 1});
  EXPECT_EQ(memory.follow(0x1p-40), (Values{1e30f, 0x1p40f})) << "a product out of range does not change";
  memory.put({1, 0});
  EXPECT_EQ(memory.follow(1e-300), (Values{1, 0})) << "the factor does not fit into a float";
}

TEST(MemoryRate, DoesNothingWhereItIsOff) {
  Memory memory({3}, false);
  EXPECT_EQ(memory.follow(0.5), Values{3});
  EXPECT_EQ(memory.follow(0.25), Values{3});
}

Feedback feedback(const std::map<std::string, std::string>& given, bool rate_inside = false) {
  Info info;
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  info.rate_inside = rate_inside;
  return Feedback(ParameterValues("test", feedback_parameters(info), given), 2);
}

TEST(MemoryRate, IsAMemoryOfTheKindsThatOweSomething) {
  for (const auto& [kind, memories] :
       std::map<std::string, std::size_t>{{"none", 0}, {"residual", 1}, {"momentum_correction", 2}, {"ef21", 2}}) {
    const bool owes = kind == "residual" || kind == "momentum_correction";
    EXPECT_EQ(feedback({{"feedback", kind}}).memories().size(), memories) << kind;
    const Memories aware = feedback({{"feedback", kind}, {"feedback.rate_aware", "on"}}).memories();
    EXPECT_EQ(aware.size(), memories + (owes ? 1 : 0)) << kind;
    EXPECT_EQ(find(aware, Role::residual_rate) != nullptr, owes) << kind;
    EXPECT_EQ(feedback({{"feedback", kind}}, true).memories().size(), aware.size()) << kind << ", by the method";
  }
}

}  // namespace memory_rate_test
}  // namespace gradcomp
