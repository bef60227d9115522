// The three products of PowerSGD with rank 4, compared with loops over rows and columns in double.
#include <cmath>
#include <memory>

#include "gradcomp/kernels/low_rank/low_rank.hpp"
#include "gradient.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr int rank = 4;
constexpr float share = 0.5f;

/// A matrix that the plan factors, and where its factors are: P [rank][rows], Q [rank][columns].
struct Matrix {
  std::size_t first, rows, columns, rank, p, q;
};

struct Factors {
  explicit Factors(const KernelInput& given)
      : input(given),
        plan(given.layout, rank),
        p(laplace_gradient(given.exec, plan.p_count(), given.seed + 1)),
        q(laplace_gradient(given.exec, plan.q_count(), given.seed + 2)),
        dense("gradcomp::bench::dense", static_cast<std::size_t>(plan.dense_count())),
        out("gradcomp::bench::out", given.gradient.size()) {
    std::size_t at_p = 0, at_q = 0;
    for (const auto& segment : given.layout.segments) {
      if (!kernels::is_factored(segment, rank)) {
        dense_segments.push_back(segment);
        continue;
      }
      const auto rows = static_cast<std::size_t>(segment.rows()), columns = static_cast<std::size_t>(segment.columns());
      const auto own_rank = static_cast<std::size_t>(kernels::factor_rank(segment, rank));
      matrices.push_back({static_cast<std::size_t>(segment.offset), rows, columns, own_rank, at_p, at_q});
      at_p += own_rank * rows;
      at_q += own_rank * columns;
    }
  }
  void project() const { plan.project(input.exec, input.source(), q, p, dense, Mark()); }

  KernelInput input;
  kernels::LowRankPlan plan;
  Vector<float> p, q, dense, out;
  std::vector<Matrix> matrices;
  std::vector<Segment> dense_segments;
};

/// A sum of products, and the sum of their magnitudes.
struct Sum {
  double value = 0, size = 0;
  void add(double x, double y) {
    value += x * y;
    size += std::abs(x * y);
  }
};

void require_sum(const char* what, std::size_t at, double got, const Sum& sum) {
  require_close(what, static_cast<index_t>(at), got, sum.value, 1e-5 * sum.size + 1e-40);
}

Kernel project(const KernelInput& input) {
  const auto own = std::make_shared<const Factors>(input);
  const auto check = [=] {
    const auto a = input.host(), q = to_host(input.exec, own->q), p = to_host(input.exec, own->p);
    for (const Matrix& m : own->matrices) {
      for (std::size_t k = 0; k < m.rank; ++k) {
        for (std::size_t i = 0; i < m.rows; ++i) {
          Sum sum;
          for (std::size_t j = 0; j < m.columns; ++j)
            sum.add(a[m.first + i * m.columns + j], q[m.q + k * m.columns + j]);
          require_sum("element of P", m.p + k * m.rows + i, p[m.p + k * m.rows + i], sum);
        }
      }
    }
  };
  return {1, [=] { own->project(); }, check, {}};
}

Kernel project_back(const KernelInput& input) {
  const auto own = std::make_shared<const Factors>(input);
  const auto work = [=] { own->plan.project_back(input.exec, input.source(), own->p, own->q); };
  const auto check = [=] {
    const auto a = input.host(), q = to_host(input.exec, own->q), p = to_host(input.exec, own->p);
    for (const Matrix& m : own->matrices) {
      std::vector<Sum> sums(m.rank * m.columns);
      for (std::size_t i = 0; i < m.rows; ++i) {
        for (std::size_t k = 0; k < m.rank; ++k) {
          for (std::size_t j = 0; j < m.columns; ++j)
            sums[k * m.columns + j].add(a[m.first + i * m.columns + j], p[m.p + k * m.rows + i]);
        }
      }
      for (std::size_t e = 0; e < sums.size(); ++e) require_sum("element of Q", m.q + e, q[m.q + e], sums[e]);
    }
  };
  return {1, work, check, {}};
}

/// project() reads the elements of dense segments before the timed calls.
Kernel reconstruct(const KernelInput& input) {
  const auto own = std::make_shared<const Factors>(input);
  own->project();
  const auto work = [=] {
    own->plan.reconstruct(input.exec, input.source(), own->p, own->q, own->dense, share, Mark(), own->out);
  };
  const auto check = [=] {
    const auto a = input.host(), q = to_host(input.exec, own->q), p = to_host(input.exec, own->p);
    const auto out = to_host(input.exec, own->out);
    for (const Matrix& m : own->matrices) {
      for (std::size_t i = 0; i < m.rows; ++i) {
        for (std::size_t j = 0; j < m.columns; ++j) {
          Sum sum;
          for (std::size_t k = 0; k < m.rank; ++k) sum.add(p[m.p + k * m.rows + i], q[m.q + k * m.columns + j]);
          require_sum("element", m.first + i * m.columns + j, out[m.first + i * m.columns + j], sum);
        }
      }
    }
    for (const auto& segment : own->dense_segments) {
      const auto end = static_cast<std::size_t>(segment.offset + segment.count);
      for (auto i = static_cast<std::size_t>(segment.offset); i < end; ++i)
        require(out[i] == share * a[i], "wrong answer: element {} is {}, expected {}", i, out[i], share * a[i]);
    }
  };
  return {1, work, check, {}};
}

}  // namespace

std::vector<NamedKernel> low_rank_kernels() {
  return {{"low_rank_project", 24, project},
          {"low_rank_project_back", 24, project_back},
          {"low_rank_reconstruct", 24, reconstruct}};
}

}  // namespace gradcomp::bench
