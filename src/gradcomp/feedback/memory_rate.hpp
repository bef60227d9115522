#pragma once
// The learning rate that a memory of unsent gradients belongs to. What such a memory owes to the parameters is
// rate x memory. Where the rate is outside of the feedback, as here, an old residual would be paid at the new rate;
// scaled by old rate / new rate it is worth what it was (as BytePS has it; Karimireddy et al., ICML 2019, keep the rate
// inside).
#include "gradcomp/core/memories.hpp"

namespace gradcomp {

class MemoryRate {
 public:
  /// `aware`: otherwise follow() does nothing.
  explicit MemoryRate(bool aware);

  bool is_aware() const { return m_rate.size() > 0; }

  /// The next step is applied with `rate`: memory *= rate of the step before / rate, 1 read and 1 write where they
  /// differ. A product that no float can hold leaves its element as it was.
  /// Gradients at rate 0 (a warm-up from 0) are owed nothing and are forgotten by the next positive rate. A step at
  /// rate 0 after others scales nothing, and keeps the rate of the step before for the next.
  void follow(const Exec& exec, double rate, const Span<float>& memory) const;

  /// For checkpoints: the rate of the last step, 0 at first.
  MemoryView memory(Role role, std::string name = {}) const;

 private:
  Kokkos::View<double*, Kokkos::HostSpace> m_rate;  ///< [1], or empty
};

}  // namespace gradcomp
