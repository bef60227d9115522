#pragma once
// One bucket that is exchanged and applied by itself, whatever the others do: its reduction, its part of the optimiser,
// and a verdict of its own.
//
//   begin; advance .. until it returns done [launch_next where it says between]; apply
#include <memory>

#include "gradcomp/exchange/buckets.hpp"
#include "gradcomp/exchange/reduction.hpp"
#include "gradcomp/strategy/updater.hpp"

namespace gradcomp {

class BucketUpdate {
 public:
  enum class State : std::uint8_t {
    computing,   ///< backward has not completed its gradient
    ready,       ///< it has; nothing has started
    under_way,   ///< a round travels
    between,     ///< a round has ended, and another one follows
    arrived,     ///< all have ended; apply() comes next
    up_to_date,  ///< its parameters are current
  };

  /// `number`: different for buckets of one transport.
  BucketUpdate(const MethodSpec& method, const Layout& model, const BucketRange& range, Transport& transport,
               int number, const UpdateOptions& options);

  const BucketRange& range() const { return m_range; }
  State state() const { return m_state; }
  void set_computing() { m_state = State::computing; }
  void set_ready() { m_state = State::ready; }

  /// Starts the exchange of the bucket's part of `gradient`; apply() will write that of `mean`. `context`: whose rate
  /// the update is made with.
  void begin(const Exec& exec, const Span<const float>& gradient, const Span<float>& mean, const Context& context,
             Timeline* timeline);
  /// Takes what came, if it has; false: nothing had.
  bool advance(const Exec& exec);
  void launch_next(const Exec& exec);
  /// Updates the bucket's part of `parameters`, unless some rank flagged the bucket.
  void apply(const Exec& exec, const Span<float>& parameters);
  /// Gives the memories back what a flagged exchange took. Hosts do so in apply(); on devices, where apply() does not
  /// wait to know, begin() does, and who needs the memories before.
  void resolve(const Exec& exec);

  void note_in(Timeline* timeline);
  /// Whether the last exchange that was resolved was flagged.
  bool skipped() const { return m_skipped; }
  const Reduction& reduction() const { return m_reduction; }
  Memories memories();
  index_t work_bytes() const { return m_reduction.work_bytes(); }

 private:
  BucketRange m_range;
  int m_number;
  Reduction m_reduction;
  Updater m_updater;
  Verdict m_verdict;
  State m_state = State::up_to_date;
  int m_round = 0;
  Span<float> m_mean;  ///< the bucket's part
  double m_rate = 0;
  Timeline* m_timeline = nullptr;
  bool m_open = false, m_skipped = false;
};

}  // namespace gradcomp
