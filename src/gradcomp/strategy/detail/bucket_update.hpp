#pragma once
// One bucket that is exchanged and applied independently of the others: its reduction and its part of the optimiser.
//
//   begin(); advance() until the state is arrived, with launch_next() whenever it is between; apply()
#include <memory>

#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/strategy/updater.hpp"

namespace gradcomp {

class BucketUpdate {
 public:
  enum class Phase : std::uint8_t {
    computing,   ///< backward has not completed its gradient
    ready,       ///< backward has completed its gradient, and nothing has started
    under_way,   ///< a round travels
    between,     ///< a round has ended, and another one follows
    arrived,     ///< all rounds have ended; apply() comes next
    up_to_date,  ///< its parameters are current
  };

  /// Buckets of one transport have different `number`s. `transport` and `faults` outlive the bucket.
  BucketUpdate(const MethodSpec& method, const Layout& model, const BucketRange& range, Transport& transport,
               const Faults& faults, int number, const UpdateOptions& options);

  const BucketRange& range() const { return m_range; }
  Phase phase() const { return m_phase; }
  void set_computing() { m_phase = Phase::computing; }
  void set_ready() { m_phase = Phase::ready; }

  /// Starts the exchange of the bucket's part of `gradient`; apply() will write its part of `mean`. The rate of
  /// `context` is that of the update.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context,
             Timeline* timeline);
  /// If the round that travels has ended, processes what was received and returns true; otherwise returns false.
  bool advance(const Exec& exec);
  /// Starts the next round of a bucket in the phase between.
  void launch_next(const Exec& exec);
  /// Updates the bucket's part of `parameters`.
  void apply(const Exec& exec, const Span<float>& parameters);

  /// From now on records times in this timeline; null: records none.
  void note_in(Timeline* timeline);
  const Reduction& reduction() const { return m_reduction; }
  Memories memories();
  index_t work_bytes() const { return m_reduction.work_bytes(); }

 private:
  BucketRange m_range;
  int m_number;
  Reduction m_reduction;
  Updater m_updater;
  Phase m_phase = Phase::up_to_date;
  Span<float> m_mean;  ///< part of the mean for this bucket
  double m_rate = 0;
  Timeline* m_timeline = nullptr;
};

}  // namespace gradcomp
