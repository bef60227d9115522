// feedback.rate_aware: even if the rate changes from step to step, sum of rate x transmitted + rate x memory = sum of
// rate x gradient.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/exchange/exchange.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp {
namespace rate_aware_test {

using Values = std::vector<float>;

Layout layout() { return Layout().add("matrix", {24, 20}).add("vector", {37}); }

Values host(const float* data, index_t count) {
  Values values(static_cast<std::size_t>(count));
  read_back(Exec(), Span<const float>(data, values.size()), values.data(), "test");
  return values;
}

/// One rank with one bucket.
class Steps {
 public:
  explicit Steps(const std::string& spec)
      : m_comm(make_self()),
        m_gradient("gradient", static_cast<std::size_t>(layout().count())),
        m_mean("mean", m_gradient.size()),
        m_exchange(
            make_exchange(parse_method(spec), layout(), *m_comm, {.overlapped = false, .bucket_bytes = 1 << 20})) {}

  /// Values that differ between steps.
  static Values gradient(int step) {
    Values g(static_cast<std::size_t>(layout().count()));
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i) + 1.3 * step) * (1 + static_cast<double>(i % 7)));
    }
    return g;
  }
  void step(const Values& g, double rate) {
    Kokkos::deep_copy(m_gradient, HostSpan<const float>(g.data(), g.size()));
    Context context{1, m_number++};
    context.rate = rate;
    m_exchange->begin(Exec(), m_gradient, m_mean, context, nullptr);
    m_exchange->finish(Exec());
    EXPECT_FALSE(m_exchange->diverged());
  }
  Values mean() const { return host(m_mean.data(), layout().count()); }
  /// What the rank keeps, and also the owner of its stripe if there is one.
  Values memory() const {
    Values sum(static_cast<std::size_t>(layout().count()));
    const Memories all = m_exchange->memories();
    for (const Role role : {Role::residual, Role::velocity_sum, Role::owner_residual}) {
      const MemoryView* found = find(all, role, 0);
      if (found == nullptr) continue;
      const Values part = host(static_cast<const float*>(found->data), found->bytes / 4);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    }
    return sum;
  }

 private:
  std::unique_ptr<Transport> m_comm;
  Vector<float> m_gradient, m_mean;
  std::unique_ptr<Exchange> m_exchange;
  std::int64_t m_number = 0;
};

/// The largest |sum of rate x (transmitted - gradient) + rate x memory| over all steps.
double missing(const std::string& spec, const std::vector<double>& rates) {
  Steps steps(spec);
  std::vector<double> balance(static_cast<std::size_t>(layout().count()));
  double most = 0;
  for (std::size_t s = 0; s < rates.size(); ++s) {
    const Values g = Steps::gradient(static_cast<int>(s));
    steps.step(g, rates[s]);
    const Values mean = steps.mean(), memory = steps.memory();
    for (std::size_t i = 0; i < balance.size(); ++i) {
      balance[i] += rates[s] * (static_cast<double>(mean[i]) - static_cast<double>(g[i]));
      most = std::max(most, std::fabs(balance[i] + rates[s] * static_cast<double>(memory[i])));
    }
  }
  return most;
}

const char* const methods[] = {
    "top_k:ratio=0.1",
    "ef_sign",
    "powersgd:rank=2",
    "qsgd:bits=2:group=64:norm=max:feedback=residual",
    "one_bit",
    "random_k:ratio=0.2",
    "ef_sign:reducer=two_phase",
    "dgc:ratio=0.1:feedback.momentum=0",
};

TEST(RateAware, NothingIsLostOrGainedWhateverTheRateDoes) {
  for (const std::string method : methods) {
    for (const std::vector<double>& rates :
         {std::vector<double>{1, 0.5, 0.25, 0.125, 0.0625}, {0, 0, 0.25, 0.5, 1, 1}, {0.3, 0.1, 0.7, 0.2}}) {
      EXPECT_LT(missing(method + ":feedback.rate_aware=on", rates), 1e-4) << method;
    }
    EXPECT_GT(missing(method + ":feedback.rate_aware=off", {1, 0.5, 0.25, 0.125}), 0.05) << method;
  }
  EXPECT_LT(missing("ef_sign:variant=paper", {1, 0.5, 0.25, 0.125}), 1e-4) << "on by itself";
}

// With beta = 1, and if only the largest element is sent, the memory of the other elements after two steps is
// (r1 g1 + r2 g2) / r2.
TEST(RateAware, ByHand) {
  Steps steps("top_k:ratio=0.00001:feedback.rate_aware=on");
  Values g(static_cast<std::size_t>(layout().count()), 2.0f);
  g[5] = 100;
  steps.step(g, 0.5);
  steps.step(g, 0.25);
  Values expected(g.size(), (0.5f * 2 + 0.25f * 2) / 0.25f);
  expected[5] = 0;
  EXPECT_EQ(steps.memory(), expected);
}

/// The authors' algorithm (Karimireddy et al., ICML 2019, algorithm 2) on one rank, which applies the rate before it
/// compresses: p = rate g + e; for each tensor s = |p|_1 / n; x -= s sign(p); e = p - s sign(p).
struct EfSignAuthors {
  std::vector<double> error = std::vector<double>(static_cast<std::size_t>(layout().count()));
  std::vector<double> x = error;

  void step(const Values& g, double rate) {
    for (const Segment& segment : layout().segments) {
      const auto first = static_cast<std::size_t>(segment.offset), n = static_cast<std::size_t>(segment.count);
      double sum = 0;
      for (std::size_t i = first; i < first + n; ++i) {
        error[i] += rate * static_cast<double>(g[i]);
        sum += std::fabs(error[i]);
      }
      for (std::size_t i = first; i < first + n; ++i) {
        const double sent = std::copysign(sum / static_cast<double>(n), error[i]);
        x[i] -= sent;
        error[i] -= sent;
      }
    }
  }
};

TEST(RateAware, EfSignsVariantIsTheAuthorsAlgorithm) {
  const std::vector<double> rates = {0.25, 0.5, 1, 0.7, 0.3, 0.1, 0.1, 0.01};
  for (const std::string spec : {"ef_sign:variant=paper", "ef_sign"}) {
    EfSignAuthors authors;
    Steps steps(spec);
    std::vector<double> x(authors.x.size());
    double most = 0;
    for (std::size_t s = 0; s < rates.size(); ++s) {
      const Values g = Steps::gradient(static_cast<int>(s));
      authors.step(g, rates[s]);
      steps.step(g, rates[s]);
      const Values mean = steps.mean();
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] -= rates[s] * static_cast<double>(mean[i]);
        most = std::max(most, std::fabs(x[i] - authors.x[i]));
      }
    }
    if (spec == "ef_sign") {
      EXPECT_GT(most, 0.1) << "the test must tell the two variants apart";
    } else {
      EXPECT_LT(most, 1e-4);
    }
  }
}

}  // namespace rate_aware_test
}  // namespace gradcomp
