#pragma once
// A job in which a model computes a value that is not finite, on one rank and in one step.
#include <limits>
#include <map>

#include "training/watched_model.hpp"

namespace gradcomp::train::test {

struct Spoil {
  enum class Where { gradient, parameters, statistics };  ///< the last ones: the running ones of a batch norm
  Where where = Where::gradient;
  float value = std::numeric_limits<float>::quiet_NaN();
  index_t step = 2;  ///< counted from 0
  int rank = -1;     ///< -1: the last one
};

/// Every method meets the value, except those whose label begins with "good".
class SpoiltRig : public Rig {
 public:
  using Where = Spoil::Where;

  explicit SpoiltRig(const Spoil& spoil = {}) : m_spoil(spoil) {
    if (spoil.rank < 0) m_spoil.rank = control->size() - 1;
    on_step = [this](const std::string& label) {
      m_label = label;
      ++m_steps[label];
    };
    WatchedModel& watched = watch(*this);
    const std::size_t middle = watched.layout().segments.size() / 2;
    const index_t element = watched.layout().segments[middle].offset;
    watched.on_initialise = [this](const HostSpan<float>&) { m_steps.clear(); };  // a new run
    watched.on_forward = [this](const Span<const float>& buffers) {
      m_due = control->rank() == m_spoil.rank && !m_label.starts_with("good") && m_steps[m_label] == m_spoil.step + 1;
      put(Where::statistics, buffers, 0);
    };
    watched.on_parameters = [this](std::size_t, const Span<const float>& all) { put(Where::parameters, all, 0); };
    watched.on_ready = [=, this](std::size_t first, const Span<float>& gradient) {
      if (first <= middle) put(Where::gradient, gradient, element);
    };
  }

 private:
  void put(Where where, const Span<const float>& values, index_t place) {
    if (where != m_spoil.where || !std::exchange(m_due, false)) return;
    Kokkos::deep_copy(Span<float>(const_cast<float*>(values.data()) + place, 1), m_spoil.value);
  }

  Spoil m_spoil;
  std::string m_label;                     ///< of the method that makes a step
  std::map<std::string, index_t> m_steps;  ///< of each method in this run
  bool m_due = false;
};

}  // namespace gradcomp::train::test
