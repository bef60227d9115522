#include "kernel.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "case.hpp"

namespace gradcomp::bench {
namespace {

void run(benchmark::State& state, Session& session, report::Row row, const NamedKernel& named, const Input& input) {
  const auto gradient = session.gradient(input);
  const Kernel kernel = named.make({session.exec, gradient, input.layout, session.options.seed});
  const auto before = [&] {
    if (kernel.before) kernel.before();
  };
  const auto work = [&] { return kernel.work(), 0.0; };
  const auto times = sample(state, session, gradient, before, work);
  kernel.check();
  row.set("kernel", named.name);
  finish_case(session, std::move(row), "kernel", input, kernel.passes, times);
}

}  // namespace

Source KernelInput::source() const {
  Source plain;
  plain.count = count();
  plain.gradient = gradient.data();
  return plain;
}

std::vector<float> KernelInput::host() const { return to_host(exec, gradient); }

std::vector<NamedKernel> all_kernels() {
  std::vector<NamedKernel> all;
  for (const auto& family : {statistics_kernels(), selection_kernels(), sign_kernels(), code_kernels(),
                             sketch_kernels(), rotation_kernels(), low_rank_kernels(), entropy_kernels()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

void run_checked(const NamedKernel& kernel, const KernelInput& input) {
  const Kernel made = kernel.make(input);
  if (made.before) made.before();
  made.work();
  input.exec.fence("gradcomp::bench::run_checked");
  made.check();
}

void require_close(const char* what, index_t element, double got, double expected, double tolerance) {
  require(std::abs(got - expected) <= tolerance, "wrong answer: {} {} is {}, expected {}", what, element, got,
          expected);
}

void add_kernel_cases(Session& session) {
  for (const auto& kernel : all_kernels()) {
    const auto label = "kernel/" + kernel.name;
    std::vector<std::string> short_inputs;
    for (const auto& input : session.inputs) {
      if (input.elements < kernel.least) {
        short_inputs.push_back(input.name());
        continue;
      }
      if (!session.fits(input, label, kernel.bytes_per_element)) continue;
      const auto body = [&session, kernel, &input](benchmark::State& state, report::Row row) {
        run(state, session, std::move(row), kernel, input);
      };
      add_case(session, {fmt::format("{}/{}", label, input.name()), input.elements, body, input.name()});
    }
    if (!short_inputs.empty())
      session.left_out.push_back(
          fmt::format("{} of {}: it takes at least {} elements", label, fmt::join(short_inputs, ", "), kernel.least));
  }
}

}  // namespace gradcomp::bench
