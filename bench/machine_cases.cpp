// The limits of this machine: reading, copying and combining arrays, and multiplying matrices.
#include "case.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/prefetch.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/linear_algebra/blas.hpp"

namespace gradcomp::bench {
namespace {

constexpr float triad_scale = 0.5f;

/// to[i] = value(i) for all elements, as kernels store: on a host with prefetches. value is a KOKKOS_LAMBDA(index_t).
template <class Value>
void store(const std::string& label, const Exec& exec, const Vector<float>& to, const Value& value) {
  constexpr index_t unit = kernels::lanes_are_threads ? 8 * kernels::warp_lanes : kernels::tile_size;
  const auto n = static_cast<index_t>(to.size());
  kernels::for_warps(
      label, exec, (n + unit - 1) / unit, KOKKOS_LAMBDA(const kernels::Warp& warp, index_t u) {
        const index_t first = u * unit, count = n - first < unit ? n - first : unit;
        float* const target = to.data() + first;
        kernels::for_parts(target, count, [&](index_t begin, index_t size) {
          kernels::each_element(
              warp, size, [&](index_t e) { return value(first + begin + e); },
              [&](int, index_t e, float x) { target[begin + e] = x; });
        });
      });
}

void copy(const Exec& exec, const Span<const float>& from, const Vector<float>& to) {
  store("gradcomp::bench::copy", exec, to, KOKKOS_LAMBDA(index_t i) { return from(i); });
}

void write(const Exec& exec, const Vector<float>& to, float value) {
  store("gradcomp::bench::write", exec, to, KOKKOS_LAMBDA(index_t) { return value; });
}

void update(const Exec& exec, const Vector<float>& to) {
  store("gradcomp::bench::update", exec, to, KOKKOS_LAMBDA(index_t i) { return -to(i); });
}

/// to = b + s c, the triad of STREAM (McCalpin 1995).
void triad(const Exec& exec, const Span<const float>& b, const Vector<float>& c, const Vector<float>& to) {
  store("gradcomp::bench::triad", exec, to, KOKKOS_LAMBDA(index_t i) { return b(i) + triad_scale * c(i); });
}

/// The number of elements of `to` that are not expected(i).
template <class Expected>
index_t count_wrong(const Exec& exec, const Vector<float>& to, const Expected& expected) {
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "gradcomp::bench::count_wrong", IndexRange(exec, 0, static_cast<index_t>(to.size())),
      KOKKOS_LAMBDA(const index_t i, index_t& count) { count += to(i) == expected(i) ? 0 : 1; }, wrong);
  return wrong;
}

void run_read(benchmark::State& state, Session& session, report::Row row, const Input& input) {
  const auto gradient = session.gradient(input);
  const auto work = [&] {
    session.read_seconds(gradient);
    return 0.0;
  };
  const auto times = sample(state, session, gradient, [] {}, work);
  finish_case(session, std::move(row), "read", input, 1, times);
}

void run_write(benchmark::State& state, Session& session, report::Row row, const Input& input) {
  const auto gradient = session.gradient(input);
  const Vector<float> to("gradcomp::bench::to", gradient.size());
  float value = 1;
  const auto next = [&] { value = -value; };
  const auto times = sample(state, session, gradient, next, [&] { return write(session.exec, to, value), 0.0; });
  const index_t wrong = count_wrong(session.exec, to, KOKKOS_LAMBDA(const index_t) { return value; });
  require(wrong == 0, "wrong answer: {} elements that were written differ", wrong);
  finish_case(session, std::move(row), "write", input, 1, times);
}

void run_update(benchmark::State& state, Session& session, report::Row row, const Input& input) {
  const auto gradient = session.gradient(input);
  const Vector<float> to("gradcomp::bench::to", gradient.size());
  Kokkos::deep_copy(session.exec, to, 2.0f);
  float expected = 2;
  const auto times =
      sample(state, session, gradient, [&] { expected = -expected; }, [&] { return update(session.exec, to), 0.0; });
  const index_t wrong = count_wrong(session.exec, to, KOKKOS_LAMBDA(const index_t) { return expected; });
  require(wrong == 0, "wrong answer: {} elements that were updated differ", wrong);
  finish_case(session, std::move(row), "update", input, 2, times);
}

void run_copy(benchmark::State& state, Session& session, report::Row row, const Input& input) {
  const auto gradient = session.gradient(input);
  const Vector<float> to("gradcomp::bench::to", gradient.size());
  const auto times = sample(state, session, gradient, [] {}, [&] { return copy(session.exec, gradient, to), 0.0; });
  const index_t wrong = count_wrong(session.exec, to, KOKKOS_LAMBDA(const index_t i) { return gradient(i); });
  require(wrong == 0, "wrong answer: {} elements of the copy differ", wrong);
  finish_case(session, std::move(row), "copy", input, 2, times);
}

void run_triad(benchmark::State& state, Session& session, report::Row row, const Input& input) {
  const auto gradient = session.gradient(input);
  const Vector<float> c("gradcomp::bench::c", gradient.size()), to("gradcomp::bench::to", gradient.size());
  Kokkos::deep_copy(session.exec, c, 2.0f);  // a power of two, so that b + 1 is rounded once, also without contraction
  const auto times = sample(state, session, gradient, [] {}, [&] { return triad(session.exec, gradient, c, to), 0.0; });
  const index_t wrong =
      count_wrong(session.exec, to, KOKKOS_LAMBDA(const index_t i) { return gradient(i) + 2.0f * triad_scale; });
  require(wrong == 0, "wrong answer: {} elements of the triad differ", wrong);
  finish_case(session, std::move(row), "triad", input, 3, times);
}

/// The time of 2 n^3 operations, a product of n x n matrices with n = 1024, at the peak rate. A small product is
/// checked.
void run_sgemm(benchmark::State& state, Session& session, report::Row row) {
  constexpr index_t n = 64;
  Vector<float> a("gradcomp::bench::a", n * n), c("gradcomp::bench::c", n * n);
  Kokkos::deep_copy(session.exec, a, 0.25f);  // every entry of the product is n / 16, exactly
  kernels::gemm(session.exec, kernels::Transpose::no, kernels::Transpose::no, {n, n, n}, 1.0f, a, a, 0.0f, c);
  const index_t wrong = count_wrong(session.exec, c, KOKKOS_LAMBDA(const index_t) { return n / 16.0f; });
  require(wrong == 0, "wrong answer: {} elements of the matrix product differ", wrong);

  constexpr index_t multiplications = index_t{1} << 30;  // 1024^3
  const double rate = session.sgemm_peak();
  const double milliseconds = 2e-6 * static_cast<double>(multiplications) / rate;
  for (auto _ : state) state.SetIterationTime(1e-3 * milliseconds);
  row.set("operation", "sgemm").set("elements", multiplications).set("gflop_per_second", rate);
  row.times("time_ms", "times_ms", {milliseconds}).set("gb_per_second", nullptr).set("verified", true);
  session.rows.push_back(std::move(row));
}

}  // namespace

void add_machine_cases(Session& session) {
  struct Limit {
    const char* name;
    void (*run)(benchmark::State&, Session&, report::Row, const Input&);
    double bytes_per_element;
  };
  for (const auto& input : session.inputs) {
    for (const auto& limit : {Limit{"read", run_read, 4},
                              {"write", run_write, 8},
                              {"update", run_update, 8},
                              {"copy", run_copy, 8},
                              {"triad", run_triad, 12}}) {
      if (!session.fits(input, limit.name, limit.bytes_per_element)) continue;
      const auto body = [&session, run = limit.run, &input](benchmark::State& state, report::Row row) {
        run(state, session, std::move(row), input);
      };
      add_case(session, {fmt::format("{}/{}", limit.name, input.name()), input.elements, body, input.name()});
    }
  }
  const auto body = [&session](benchmark::State& state, report::Row row) { run_sgemm(state, session, std::move(row)); };
  add_case(session, {"sgemm", index_t{1} << 30, body});
}

}  // namespace gradcomp::bench
