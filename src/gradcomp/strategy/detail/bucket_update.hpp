#pragma once
// One bucket that is exchanged and applied independently of the others: its reduction, its part of the optimiser, and
// its own verdict.
//
//   begin(); advance() until the state is arrived, with launch_next() whenever it is between; apply()
#include <memory>
#include <optional>
#include <utility>

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

  /// Buckets of one transport have different `number`s.
  BucketUpdate(const MethodSpec& method, const Layout& model, const BucketRange& range, Transport& transport,
               int number, const UpdateOptions& options);

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
  /// Updates the bucket's part of `parameters`, unless some rank flagged the bucket.
  void apply(const Exec& exec, const Span<float>& parameters);
  /// Gives back to the memories what a flagged exchange took. On hosts, apply() calls it. On devices apply() does not
  /// wait for the verdict: begin() calls it, and whoever needs the memories earlier must call it too.
  void resolve(const Exec& exec);

  /// From now on records times in this timeline; null: records none.
  void note_in(Timeline* timeline);
  /// The step of the last exchange that was resolved, if it was flagged. Returned once.
  std::optional<index_t> take_skipped() { return std::exchange(m_skipped, std::nullopt); }
  const Reduction& reduction() const { return m_reduction; }
  Memories memories();
  index_t work_bytes() const { return m_reduction.work_bytes(); }

 private:
  BucketRange m_range;
  int m_number;
  Reduction m_reduction;
  Updater m_updater;
  Verdict m_verdict;
  Phase m_phase = Phase::up_to_date;
  int m_round = 0;
  Span<float> m_mean;  ///< part of the mean for this bucket
  double m_rate = 0;
  Timeline* m_timeline = nullptr;
  bool m_open = false;
  index_t m_step = 0;  ///< of the last begin()
  std::optional<index_t> m_skipped;
};

}  // namespace gradcomp
