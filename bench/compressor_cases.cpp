// The cases compress, decompress and pair (both), for every method and size.
#include <fmt/ranges.h>

#include <limits>

#include "case.hpp"
#include "deterministic.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/exchange/one_rank.hpp"
#include "gradcomp/method/spec.hpp"
#include "verify.hpp"

namespace gradcomp::bench {
namespace {

/// A method whose work grows faster than the number of elements: with more than `most` elements, it takes seconds per
/// call and runs only if --methods names it.
struct SlowMethod {
  const char* name;
  index_t max_elements;
};
constexpr SlowMethod slow_methods[] = {{"atomo", index_t{1} << 14}};  // it computes the spectrum of matrices

/// The largest number of elements with which a method runs.
index_t max_elements(const Session& session, const MethodSpec& method) {
  for (const auto& slow : slow_methods) {
    if (session.options.methods.empty() && method.compressor->info().name == slow.name) return slow.max_elements;
  }
  return std::numeric_limits<index_t>::max();
}

/// The methods with the feedback that --residual asks for. A method that refuses it is left out, with a line in
/// left_out.
std::vector<MethodSpec> chosen_methods(Session& session) {
  std::vector<MethodSpec> methods;
  if (!session.options.methods.empty()) {
    methods = parse_methods(session.options.methods);
  } else {
    for (const auto& entry : all_entries()) methods.push_back(parse_method(entry.info.name));
  }
  if (session.options.residual == "default") return methods;
  const std::string feedback = session.options.residual == "on" ? "residual" : "none";
  std::vector<MethodSpec> kept;
  for (const auto& method : methods) {
    try {
      kept.push_back(parse_method(with_option(method.text, "feedback", feedback)));
    } catch (const Error& error) {
      session.left_out.push_back(fmt::format("--residual {}: {}", session.options.residual, error.what()));
    }
  }
  return kept;
}

/// The bytes per element that a pair, its verification and the stream of gradients take, measured with a small pair.
double bytes_per_element(const MethodSpec& method, std::uint64_t seed, index_t stream) {
  constexpr index_t elements = index_t{1} << 16;
  OneRank loop(remembering(method), layer_like(elements), seed);
  return (stream > 1 ? 3 : 1) * sizeof(float) + 2 * static_cast<double>(loop.bytes()) / static_cast<double>(elements);
}

/// The arrays of the length of the gradient that a feedback remembers.
double memories(const std::string& feedback) {
  return feedback == "none" ? 0 : feedback == "momentum_correction" ? 2 : 1;
}

/// What `phase` must move with the feedback of these options, messages not counted.
Moves moves_of(const Info& info, const std::string& feedback, const std::string& phase) {
  Moves all;
  for (const auto& [name, part] : {std::pair{"compress", &info.compress}, {"decompress", &info.decompress}}) {
    if (phase != "pair" && phase != name) continue;
    const bool first = part == &info.compress;  // forms a
    all.read += part->read;
    all.written += part->written;
    if (feedback != "none" || info.feedback == "none")
      all.updated += part->updated + (first ? memories(feedback) - memories(info.feedback) : 0);
  }
  return all;
}

/// Runs one case: `phase` is timed, and the other half of the pair runs untimed before or after it.
void run(benchmark::State& state, Session& session, report::Row row, const MethodSpec& method, const std::string& phase,
         const Input& input) {
  const auto& exec = session.exec;
  const auto gradient = session.gradient(input);
  OneRank loop(method, input.layout, session.options.seed);
  for (index_t s = 1; phase != "compress" && s < session.options.senders; ++s) {
    session.next_gradient();
    loop.forget(exec);
    loop.compress(exec, gradient);
    loop.add_sender();
  }
  const index_t senders = loop.senders();
  KeptState start;  // before the last call, whose answer is checked
  benchmark::IterationCount calls = 0;
  const auto before = [&] {
    session.next_gradient();
    loop.forget(exec);
    if (++calls > state.max_iterations && !loop.has_memory()) start.keep(exec, loop);  // one more call came first
    if (phase == "decompress") loop.compress(exec, gradient);
    loop.take_exchange_seconds();
  };
  const auto work = [&] {
    if (phase != "decompress") loop.compress(exec, gradient);
    if (phase != "compress") loop.decompress(exec);
    return loop.take_exchange_seconds();
  };
  const auto times = sample(state, session, gradient, before, work);
  loop.remove_senders();
  if (phase == "compress" || senders > 1) loop.decompress(exec);
  exec.fence("gradcomp::bench::run");
  verify(exec, loop, method, input.layout, gradient, session.options.seed, start);

  const auto& info = method.compressor->info();
  const auto& feedback = method.common.text("feedback");
  const auto dense = static_cast<double>(input.elements) * sizeof(float);
  row.method(method.text, method.canonical, method.label).set("phase", phase).set("feedback", feedback);
  row.set("stream", session.stream_length()).set("senders", senders);
  row.bytes(static_cast<double>(loop.payload_bytes()), static_cast<double>(loop.header_bytes()), 0.0, dense);
  if (session.last_round) {
    const auto name = row.json().at("name").get<std::string>();
    const auto first = session.gradient(input);
    const Deterministic found = deterministic(exec, method, input.layout, first, session.options.seed, phase, name);
    row.set("payload_checksum", fmt::format("{:08x}", found.payload));
    row.set("decoded_checksum", fmt::format("{:08x}", found.decoded))
        .set("allocations", found.allocations)
        .set("nmse", found.nmse);
  }
  const Moves moves = moves_of(info, feedback, phase);
  row.set("moves", report::Json{{"read", moves.read}, {"written", moves.written}, {"updated", moves.updated}});
  const double messages = (phase == "pair" ? 2 : 1) * static_cast<double>(loop.payload_bytes()) / std::max(dense, 1.0);
  const double passes = moves.read + moves.written + 2 * moves.updated + messages;
  finish_case(session, row, phase, input, passes, times);
}

}  // namespace

void add_compressor_cases(Session& session) {
  for (const auto& method : chosen_methods(session)) {
    const double bytes = bytes_per_element(method, session.options.seed, session.options.stream);
    const index_t max_size = max_elements(session, method);
    std::vector<std::string> slow_inputs;
    for (const auto& input : session.inputs) {
      if (input.elements > max_size) {
        slow_inputs.push_back(input.name());
        continue;
      }
      if (!session.fits(input, method.label, bytes)) continue;
      for (const std::string phase : {"compress", "decompress", "pair"}) {
        const auto body = [&session, method, phase, &input](benchmark::State& state, report::Row row) {
          run(state, session, std::move(row), method, phase, input);
        };
        add_case(session,
                 {fmt::format("{}/{}/{}", phase, method.label, input.name()), input.elements, body, input.name()});
      }
    }
    if (!slow_inputs.empty())
      session.left_out.push_back(fmt::format("{} of {}: it takes seconds a call; runs when named by --methods",
                                             method.label, fmt::join(slow_inputs, ", ")));
  }
}

}  // namespace gradcomp::bench
