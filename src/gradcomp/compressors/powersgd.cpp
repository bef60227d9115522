// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithm 1).
//
// Every tensor of two or more dimensions is a matrix M, rows = all extents but the last, columns = the last. Round 0
// sums P = M Q over the ranks; its columns are made orthonormal, identically on all ranks; round 1 sums Q = M^T P; the
// mean is P Q^T / ranks. Q is kept for the next step (warm start), with columns of norm 1: only their directions
// matter, and products then neither overflow nor vanish. A column that died (a gradient of zeros, or of lower rank)
// starts again. Tensors that a factorisation would not shrink, vectors above all, ride in round 0 whole, without error
// feedback.
//
// The memory keeps a - out with the global out, as the authors' code does; a - P Q_w^T of the rank's own Q_w gives the
// same sequence of means, since only the mean memory enters.
//
// Skipping: non-finite gradients put NaN into element 0 of round 0, every rank sees it in the sum, and Q stays as it
// was.
#include "gradcomp/compressors/powersgd.hpp"

#include <string>
#include <utility>

#include "gradcomp/kernels/low_rank.hpp"

namespace gradcomp::compressors {

Vector<float> floats(const char* label, index_t count) { return {label, static_cast<std::size_t>(count)}; }

struct PowerSgdState final : State {
  PowerSgdState(const Layout& bucket, int rank)
      : State(bucket),
        plan(bucket, rank),
        own_p(floats("gradcomp::compressors::powersgd::own_p", plan.p_count() + plan.dense_count())),
        sum_p(floats("gradcomp::compressors::powersgd::sum_p", plan.p_count() + plan.dense_count())),
        own_q(floats("gradcomp::compressors::powersgd::own_q", plan.q_count())),
        sum_q(floats("gradcomp::compressors::powersgd::sum_q", plan.q_count())),
        warm_q(floats("gradcomp::compressors::powersgd::warm_q", plan.q_count())),
        bad("gradcomp::compressors::powersgd::bad", 1) {}

  std::vector<StateView> persistent() override {
    return {{"q", warm_q.data(), plan.q_count() * size_of(DType::f32), false}};
  }
  index_t scratch_bytes() const override {
    return plan.scratch_bytes() + 8 * (plan.p_count() + plan.dense_count() + plan.q_count());
  }
  /// The part of a round-0 buffer that holds the factors, and the part that holds dense elements.
  Span<float> factors(const Vector<float>& p) const { return subspan(Span<float>(p), 0, plan.p_count()); }
  Span<float> dense(const Vector<float>& p) const {
    return subspan(Span<float>(p), plan.p_count(), plan.dense_count());
  }

  kernels::LowRankPlan plan;
  Vector<float> own_p, sum_p;  ///< round 0: [P of all matrices, dense elements]
  Vector<float> own_q, sum_q;  ///< round 1
  Vector<float> warm_q;        ///< directions for the next step; a column of zeros starts again
  Vector<index_t> bad;         ///< [1] non-finite numbers met in this step
  bool taken = false;          ///< finish() took `out` from the memory
};

/// Non-finite own gradients poison element 0 of the message.
void poison(const Exec& exec, const Vector<index_t>& bad, const Vector<float>& message) {
  if (message.size() == 0) return;
  Kokkos::parallel_for(
      "gradcomp::compressors::powersgd_poison", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(const index_t) {
        if (bad(0) > 0) message(0) = Kokkos::Experimental::quiet_NaN_v<float>;
      });
}

/// Adds the non-finite numbers of a reduced message to bad(0): the flag of some rank, or an overflow.
void count_non_finite(const Exec& exec, const Vector<float>& reduced, const Vector<index_t>& bad) {
  Kokkos::parallel_for(
      "gradcomp::compressors::powersgd_check", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(reduced.size())),
      KOKKOS_LAMBDA(const index_t i) {
        if (!Source::is_finite(reduced(i))) Kokkos::atomic_add(&bad(0), index_t{1});
      });
}

/// q *= share.
void scale(const Exec& exec, const Vector<float>& q, float share) {
  Kokkos::parallel_for(
      "gradcomp::compressors::powersgd_mean", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<index_t>(q.size())),
      KOKKOS_LAMBDA(const index_t i) { q(i) *= share; });
}

class PowerSgd final : public Compressor {
 public:
  PowerSgd(Info info, Options options)
      : Compressor(std::move(info), std::move(options)), m_rank(static_cast<int>(this->options().integer("rank"))) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<PowerSgdState>(layout, m_rank);
  }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t count = 0;
    for (const auto& s : layout.segments) {
      count += kernels::is_factored(s, m_rank) ? kernels::factor_rank(s, m_rank) * (s.rows() + s.columns()) : s.count;
    }
    return count * size_of(DType::f32);
  }

  void produce(const Exec& exec, int round, const Source& source, State& state, const Context& context,
               Message& message) const override {
    auto& own = static_cast<PowerSgdState&>(state);
    message = Message{};
    if (round == 0) {
      own.taken = false;
      Kokkos::deep_copy(exec, own.bad, index_t{0});
      kernels::refill_columns(exec, own.plan.q_columns(), own.plan.ids(), context.seed, context.step, own.warm_q);
      own.plan.project(exec, source, own.warm_q, own.factors(own.own_p), own.dense(own.own_p), own.bad);
      poison(exec, own.bad, own.own_p);
      message.count = static_cast<index_t>(own.own_p.size());
      message.data = own.own_p.data();
      message.result = own.sum_p.data();
      return;
    }
    own.plan.project_back(exec, source, own.factors(own.sum_p), own.own_q);
    message.count = own.plan.q_count();
    message.data = own.own_q.data();
    message.result = own.sum_q.data();
  }

  void consume(const Exec& exec, int round, const Message&, State& state, const Context&) const override {
    auto& own = static_cast<PowerSgdState&>(state);
    if (round == 0) {
      Kokkos::deep_copy(exec, own.bad, index_t{0});  // the reduced message carries the flag of every rank, this one too
      count_non_finite(exec, own.sum_p, own.bad);
      kernels::orthogonalise(exec, own.plan.p_columns(), own.factors(own.sum_p));
    } else {
      count_non_finite(exec, own.sum_q, own.bad);
    }
  }

  bool finish(const Exec& exec, const Source& source, State& state, const Context& context,
              const Span<float>& out) const override {
    auto& own = static_cast<PowerSgdState&>(state);
    index_t bad = 0;
    Kokkos::deep_copy(exec, Kokkos::View<index_t, Kokkos::HostSpace>(&bad), Kokkos::subview(own.bad, 0));
    exec.fence("gradcomp::compressors::powersgd_finish");
    if (bad > 0) return false;
    const float share = 1.0f / static_cast<float>(context.ranks);
    scale(exec, own.sum_q, share);
    own.plan.reconstruct(exec, source, own.factors(own.sum_p), own.sum_q, own.dense(own.sum_p), share, out);
    kernels::normalise_columns(exec, own.plan.q_columns(), own.sum_q, own.warm_q);
    own.taken = true;
    return true;
  }

  /// Matrices: memory = a - out, so `out` returns. Dense elements left whole, and return from the own message. Before
  /// finish() has succeeded the memory still holds a.
  void give_back(const Exec& exec, const Source& source, State& state, const Message&,
                 const Span<const float>& out) const override {
    auto& own = static_cast<PowerSgdState&>(state);
    if (!std::exchange(own.taken, false) || !source.has_memory()) return;
    own.plan.give_back(exec, out, own.dense(own.own_p), source.memory);
  }

 private:
  int m_rank;
};

Entry powersgd() {
  Info info;
  info.name = "powersgd";
  info.summary =
      "warm-started low-rank factors of every matrix, vectors whole; at granularity=bucket all is one vector";
  info.paper = "Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019";
  info.family = Info::Family::low_rank;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducers = {"allreduce"};
  info.feedback = "residual";
  info.granularity = "tensor";
  info.parameters = {Parameter::integer("rank", "4", 1, 32, "columns of the factors, at most the smaller extent")};
  info.bytes_formula =
      "4 (sum over matrices of r (rows + columns) + elements of all other tensors), r = min(rank, rows, columns); "
      "matrices with r (rows + columns) >= rows columns count as other";
  info.passes = 7;
  return make_entry<PowerSgd>(info);
}

}  // namespace gradcomp::compressors
