// Payloads of every method: whatever arrives, decode_add() refuses it or writes inside its result.
#include <cstring>
#include <exception>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"
#include "decoding.hpp"
#include "fuzz/fuzz.hpp"

namespace gradcomp::fuzz {
namespace {

/// The methods that the conformance suite runs and that send one message of bytes.
const std::vector<MethodSpec>& methods() {
  static const std::vector<MethodSpec> list = [] {
    std::vector<MethodSpec> found;
    for (const std::string& text : conformance::all_specs().run) {
      MethodSpec spec = parse_method(with_option(text, "feedback", "none"));
      if (spec.compressor->info().rounds == std::vector{MessageKind::bytes}) found.push_back(std::move(spec));
    }
    return found;
  }();
  return list;
}

constexpr int raw = 0x80;  ///< in the byte that chooses the layout: the header is used as it is
static_assert(raw > 16);

}  // namespace

// Two bytes choose the method, one the layout. All of the header but flags and kept is made right, unless `raw` is set:
// few changes of the other fields lead further than to their checks.
void read(Input input) {
  const std::size_t low = take(input), high = take(input);
  const std::uint8_t choice = take(input);
  const MethodSpec& method = methods()[(low + 256 * high) % methods().size()];
  const auto& layouts = conformance::layouts();
  conformance::SimulatedRank rank(method, layouts[(choice & (raw - 1)) % layouts.size()].layout);
  std::vector<std::byte> bytes(input.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), input.data(), bytes.size());
  if ((choice & raw) == 0 && bytes.size() >= sizeof(PayloadHeader)) {
    PayloadHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    PayloadHeader right = method.compressor->header(rank.count, static_cast<index_t>(header.kept));
    right.flags = header.flags;
    std::memcpy(bytes.data(), &right, sizeof right);
  }
  const Vector<std::byte> payload("gradcomp::fuzz::payload", bytes.size());  // of exactly its size
  test::to_device(bytes, payload);
  std::exception_ptr refused;
  try {
    test::decode_add(*rank.compressor, Exec(), Span<const std::byte>(payload.data(), payload.size()), 1.0f, *rank.state,
                     rank.out.span());
  } catch (const Error&) {
    refused = std::current_exception();
  }
  if (!rank.out.intact()) broken("decode_add() of '" + method.text + "' wrote outside of its result");
  if (refused) std::rethrow_exception(refused);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  for (std::size_t m = 0; m < methods().size(); ++m) {
    for (std::size_t l = 0; l < conformance::layouts().size(); ++l) {
      const auto& [name, layout] = conformance::layouts()[l];
      if (name != "n31" && name != "many") continue;
      auto ranks = conformance::make_ranks(methods()[m], layout, 1);
      conformance::set_gradients(ranks, "laplace", 81);
      const auto payload = conformance::run_step(ranks, 0).messages[0];
      all.push_back(
          with_choice({static_cast<std::uint8_t>(m), static_cast<std::uint8_t>(m >> 8), static_cast<std::uint8_t>(l)},
                      {reinterpret_cast<const char*>(payload.data()), payload.size()}));
    }
  }
  return all;
}

}  // namespace gradcomp::fuzz
