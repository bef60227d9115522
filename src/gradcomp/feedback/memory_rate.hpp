#pragma once
// The learning rate to which a memory of unsent gradients belongs. Such a memory represents an update of rate x memory
// that is still due. The optimiser applies the rate outside the feedback, so it would apply an old residual with the
// new rate. If the memory is multiplied by old rate / new rate, the update stays the same (as in BytePS; Karimireddy et
// al., ICML 2019, keep the rate inside).
#include "gradcomp/core/memories.hpp"

namespace gradcomp {

class MemoryRate {
 public:
  /// If not `aware`, follow() does nothing.
  explicit MemoryRate(bool aware);

  bool is_aware() const { return m_rate.size() > 0; }

  /// Call it before a step that is applied with `rate`: memory *= rate of the step before / rate, with 1 read and 1
  /// write if the rates differ. If a product does not fit a float, its element stays unchanged. At rate 0 (a warm-up
  /// from 0) no update is due, so the gradients of such steps are dropped at the next positive rate. A step at rate 0
  /// after steps at other rates scales nothing and keeps the previous rate for the next step.
  void follow(const Exec& exec, double rate, const Span<float>& memory) const;

  /// For checkpoints: the rate of the last step; 0 before the first step.
  MemoryView memory(Role role, std::string name = {}) const;

 private:
  Kokkos::View<double*, Kokkos::HostSpace> m_rate;  ///< [1], or empty
};

}  // namespace gradcomp
