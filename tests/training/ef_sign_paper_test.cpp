// Compares ef_sign:variant=paper with the authors' algorithm (Karimireddy et al., ICML 2019, algorithm 2, over ranks),
// in which the rate g is applied before compression: p = g gradient + e; for each tensor s = |p|_1 / n; x -= mean over
// ranks of s sign(p); e = p - s sign(p).
#include "gradcomp/train/snapshot.hpp"
#include "gradcomp/train/trainer.hpp"
#include "training/by_hand.hpp"

namespace gradcomp::train::test {
namespace ef_sign_paper_test {

using Floats = std::vector<float>;

class Authors {
 public:
  Authors(Rig& rig, ByHand& hand) : m_rig(rig), m_hand(hand), m_error(hand.parameters.size(), 0.0F) {}

  void step(index_t number) {
    const Floats gradient = m_hand.gradient(number);
    Floats sent(gradient.size());
    for (const Segment& s : m_rig.model->layout().segments) {
      const auto first = static_cast<std::size_t>(s.offset), last = first + static_cast<std::size_t>(s.count);
      double sum = 0;
      for (std::size_t i = first; i < last; ++i) {
        m_error[i] += static_cast<float>(m_hand.rate(number)) * gradient[i];
        sum += std::fabs(static_cast<double>(m_error[i]));
      }
      const auto scale = static_cast<float>(sum / static_cast<double>(s.count));
      for (std::size_t i = first; i < last; ++i) {
        sent[i] = m_error[i] < 0 ? -scale : scale;
        m_error[i] -= sent[i];
      }
    }
    const Floats mean = m_hand.mean(sent);
    for (std::size_t i = 0; i < mean.size(); ++i) m_hand.parameters[i] -= mean[i];
  }

 private:
  Rig& m_rig;
  ByHand& m_hand;
  Floats m_error;
};

/// Parameters after all steps.
Floats trained(Rig& rig, const std::string& spec) {
  const auto contenders = rig.parse(spec);
  Trainer trainer(rig.job(), contenders[0]);
  for (index_t step = 0; step < rig.options.steps; ++step) trainer.step(Exec(), false);
  Snapshot snapshot;
  trainer.drain(Exec());
  trainer.save(Exec(), snapshot, "");
  Floats parameters(static_cast<std::size_t>(rig.model->layout().count()));
  snapshot.get("parameters", std::as_writable_bytes(std::span<float>(parameters.data(), parameters.size())));
  return parameters;
}

double distance(const Floats& a, const Floats& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum);
}

// There are few steps at a low rate, because sooner or later rounding changes the sign of an element near zero, and
// then the two trainings diverge.
TEST(EfSignPaper, IsTheAuthorsAlgorithmWhileTheRateChanges) {
  Rig rig;
  rig.options.steps = rig.options.evaluate_every = rig.options.block = 4;
  rig.options.warmup = 4;
  rig.options.weight_decay = 0;
  rig.options.learning_rate = 0.002;
  ByHand hand(rig);
  const Floats start = hand.parameters;
  Authors authors(rig, hand);
  for (index_t step = 0; step < rig.options.steps; ++step) authors.step(step);
  const double path = distance(start, hand.parameters);
  EXPECT_GT(path, 0.001);
  EXPECT_LT(distance(trained(rig, "ef_sign:variant=paper"), hand.parameters), 0.01 * path);
  rig.options.momentum = 0;
  EXPECT_GT(distance(trained(rig, "ef_sign"), hand.parameters), 0.2 * path)
      << "the test must tell the two variants apart";
}

}  // namespace ef_sign_paper_test
}  // namespace gradcomp::train::test
