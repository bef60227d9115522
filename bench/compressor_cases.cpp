// compress, decompress and both, for every method and size.
#include "case.hpp"
#include "gradcomp/exchange/reduction.hpp"
#include "loop.hpp"
#include "verify.hpp"

namespace gradcomp::bench {
namespace {

std::vector<MethodSpec> chosen_methods(const BenchOptions& options) {
  if (!options.methods.empty()) return parse_methods(options.methods);
  std::vector<MethodSpec> methods;
  for (const auto& entry : all_entries()) methods.push_back(parse_method(entry.info.name));
  return methods;
}

/// One case: `operation` is timed, the other half of the pair runs untimed before or after it.
void run(benchmark::State& state, Session& session, report::Row row, const MethodSpec& method,
         const std::string& operation, index_t elements) {
  const auto& exec = session.exec;
  const auto gradient = session.gradient(elements);
  const auto layout = layer_like(elements);
  Loop loop(method, layout, session.options.seed);
  const auto before = [&] {
    loop.reset(exec);
    if (operation == "decompress") loop.compress(exec, gradient);
    loop.take_exchange_seconds();
  };
  const auto work = [&] {
    if (operation != "decompress") loop.compress(exec, gradient);
    if (operation != "compress") loop.decompress(exec);
    return loop.take_exchange_seconds();
  };
  const auto times = sample(state, session, gradient, before, work);
  if (operation == "compress") loop.decompress(exec);
  exec.fence("gradcomp::bench::run");
  verify(exec, loop, method, layout, gradient, session.options.seed);

  const auto dense = static_cast<double>(elements) * sizeof(float);
  row.method(method.text, method.canonical, method.label);
  row.bytes(static_cast<double>(loop.payload_bytes()), static_cast<double>(loop.header_bytes()), 0.0, dense);
  const double passes = operation == "compress" ? method.compressor->info().passes : 0.0;
  finish_case(session, row, operation, elements, passes, times);
}

}  // namespace

void add_compressor_cases(Session& session) {
  for (const auto& method : chosen_methods(session.options)) {
    for (const index_t elements : session.options.sizes) {
      for (const std::string operation : {"compress", "decompress", "pair"}) {
        add_case(session, fmt::format("{}/{}/{}", operation, method.label, elements), elements,
                 [&session, method, operation, elements](benchmark::State& state, report::Row row) {
                   run(state, session, std::move(row), method, operation, elements);
                 });
      }
    }
  }
}

}  // namespace gradcomp::bench
