// Spectral ATOMO (Wang, Sievert, Liu, Charles, Papailiopoulos, Wright, ATOMO, NeurIPS 2018, algorithm 1).
//
// Every tensor is seen as a matrix (detail/low_rank/spectrum.hpp), M = sum of l_i u_i v_i^T. Term i is drawn with
// probability p_i, independently of the other terms, and travels as l_i / p_i, u_i, v_i. Water filling chooses the p_i
// so that their sum, the mean number of drawn terms, is at most `rank`. Two rules of other codes are biased and are not
// used here: the authors' code draws again when nothing was drawn, and PowerSGD's code draws until exactly `rank` terms
// were drawn. The authors' rule for l_1 < 1e-6 is not used either, because 1e-6 is in units of the gradient.
//
// Two kinds of tensors travel raw: those that `rank` terms would not shrink, and matrices whose short side exceeds 512.
//
// The u_i are eigenvectors of the Gram matrix of the short side, in double. They dominate the time: long side x short
// side^2 operations for the matrix, and about 30 short side^3 for its eigenvectors. Singular values below about 1e-8 of
// the largest one are rounding noise in a Gram matrix and count as 0. Terms are u_i (u_i^T M) / p_i. They add up to
// M on average for all orthonormal u_i, exact eigenvectors or not.
//
// Sections: u32 k of every matrix; f32 elements of raw tensors; k terms of every matrix, each as f32 l / p, its column
// vector (rows of the matrix) and its row vector (columns). A value beyond the range of a float flags the message.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gradcomp/compressors/detail/low_rank/atomo_state.hpp"
#include "gradcomp/compressors/detail/low_rank/spectrum.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/random/threefry.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::compressors {
namespace {

/// A draw in [0, 1) from 53 bits of the four words.
double uniform53(const Array4& draw) {
  return static_cast<double>(((std::uint64_t{draw.x0} << 32) | draw.x1) >> 11) * 0x1p-53;
}

/// The terms that a step draws.
struct Drawn {
  index_t count = 0;
  index_t floats = 0;  ///< length of all sections
  bool finite = true;  ///< whether every l / p is finite
};

class Atomo final : public Compressor {
 public:
  Atomo(Info info, ParameterValues options)
      : Compressor(std::move(info), std::move(options)), m_rank(this->options().integer("rank")) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<AtomoState>(layout, m_rank);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override { return 4 * max_atomo_floats(layout, m_rank); }

  Message produce(const Exec& exec, int, const Step& step, State& state) const override {
    auto& own = state.as<AtomoState>();
    const Source& source = step.source;
    own.first.run(exec, own.tiles, source);
    Drawn drawn;
    drawn.finite = own.first.non_finite() == 0;
    const float* const a = source.accumulated();
    if (drawn.finite) {
      own.plan.gram(exec, a, own.grams);
      kernels::jacobi_eigenvectors(exec, own.plan.gram_matrices(), own.grams, own.vectors, own.values);
      draw(exec, own, step.context, drawn);
    }
    PayloadHeader head = header(source.count, drawn.finite ? own.raw + drawn.count : 0);
    head.flags = drawn.finite ? 0 : PayloadHeader::flag_diverged;
    Message message;
    message.kind = MessageKind::bytes;
    message.payload = own.payload;
    message.size = payload_header_bytes + (drawn.finite ? 4 * drawn.floats : 0);
    write_header(exec, head, message.payload);
    if (!drawn.finite) return message;
    std::byte* const sections = own.payload.data() + payload_header_bytes;
    auto* const floats = reinterpret_cast<float*>(sections);
    Kokkos::deep_copy(exec, Span<std::uint32_t>(reinterpret_cast<std::uint32_t*>(sections), own.counts.size()),
                      HostSpan<const std::uint32_t>(own.counts.data(), own.counts.size()));
    Kokkos::deep_copy(exec, own.terms, HostSpan<const kernels::RankOneTerm>(own.host_terms.data(), own.terms.size()));
    kernels::gather_runs(exec, own.runs, a, floats + own.counts.size());
    own.plan.make_terms(exec, a, own.vectors, own.terms, drawn.count, floats);
    return message;
  }

  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    auto& own = state.as<AtomoState>();
    const Span<const std::byte>& payload = received.bytes;
    const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), 0));
    if (head.diverged()) return take_flag(exec, received, info().name, out);
    const auto size = static_cast<index_t>(payload.size());
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
            "atomo: payload is not aligned to {} bytes", alignof(float));
    read_counts(exec, payload, own, head);
    const auto* const floats = reinterpret_cast<const float*>(payload.data() + payload_header_bytes);
    const auto many = static_cast<std::size_t>(size - payload_header_bytes) / sizeof(float) - own.counts.size();
    const index_t bad = kernels::count_non_finite(exec, Span<const float>(floats + own.counts.size(), many));
    require(bad == 0, "atomo: {} of {} values of a payload are not finite", bad, many);
    Kokkos::deep_copy(exec, own.received,
                      HostSpan<const kernels::RankOneTerms>(own.host_received.data(), own.received.size()));
    own.plan.add_terms(exec, own.received, floats, received.weight, out);
    kernels::add_runs(exec, own.runs, floats + own.counts.size(), received.weight, out);
  }

 private:
  void draw(const Exec& exec, AtomoState& own, const Context& context, Drawn& drawn) const;
  static void read_counts(const Exec& exec, const Span<const std::byte>& payload, AtomoState& own,
                          const PayloadHeader& head);

  index_t m_rank;
};

/// Draws the terms of every matrix: fills own.counts and own.host_terms from the eigenvalues. Waits for exec.
void Atomo::draw(const Exec& exec, AtomoState& own, const Context& context, Drawn& drawn) const {
  read_back(exec, Span<const double>(own.values), own.host_values.data(), "gradcomp::compressors::atomo::draw");
  drawn.floats = own.before_terms();
  index_t first = 0;
  for (std::size_t m = 0; m < own.counts.size(); ++m) {
    const kernels::StoredMatrix& matrix = own.plan.matrices()[m];
    const std::int32_t n = matrix.short_side();
    const double* const values = own.host_values.data() + first;
    first += n;
    own.order.resize(static_cast<std::size_t>(n));
    std::iota(own.order.begin(), own.order.end(), 0);
    std::stable_sort(own.order.begin(), own.order.end(), [&](auto i, auto j) { return values[i] > values[j]; });
    const double noise = n * 0x1p-52 * values[own.order[0]];
    own.singular.clear();
    for (const auto i : own.order) own.singular.push_back(values[i] > noise ? std::sqrt(values[i]) : 0.0);
    water_filling(own.singular, m_rank, own.probabilities);
    const Array4 key = stream_key(context.seed, own.ids[m], context.step, static_cast<std::uint32_t>(context.rank));
    own.counts[m] = 0;
    for (std::size_t i = 0; i < own.order.size() && own.probabilities[i] > 0; ++i) {
      const double p = own.probabilities[i], sigma = own.singular[i];
      const auto counter = stream_counter(static_cast<index_t>(i), random_stream::selection, 0);
      if (uniform53(threefry4x32_12(key, counter)) >= p) continue;
      const auto weight = static_cast<float>(sigma / p);
      drawn.finite = drawn.finite && Source::is_finite(weight);
      own.host_terms[static_cast<std::size_t>(drawn.count++)] = {static_cast<std::int32_t>(m), own.order[i], weight,
                                                                 1 / sigma, drawn.floats};
      drawn.floats += matrix.term();
      ++own.counts[m];
    }
  }
}

/// Fills own.counts and own.host_received. Throws Error if the counts contradict the header or the size of the payload.
/// Waits for exec.
void Atomo::read_counts(const Exec& exec, const Span<const std::byte>& payload, AtomoState& own,
                        const PayloadHeader& head) {
  const auto size = static_cast<index_t>(payload.size());
  require(size >= payload_header_bytes + 4 * own.before_terms(), "atomo: payload of {} bytes, expected at least {}",
          size, payload_header_bytes + 4 * own.before_terms());
  const auto bytes = static_cast<index_t>(4 * own.counts.size());
  read_back(exec, subspan(payload, payload_header_bytes, bytes), reinterpret_cast<std::byte*>(own.counts.data()),
            "gradcomp::compressors::atomo::read_counts");
  index_t floats = own.before_terms(), kept = own.raw;
  for (std::size_t m = 0; m < own.counts.size(); ++m) {
    const kernels::StoredMatrix& matrix = own.plan.matrices()[m];
    const auto count = static_cast<index_t>(own.counts[m]);
    require(count <= matrix.short_side(),
            "atomo: payload with {} terms of a matrix of {} x {}, more than its shorter side", count, matrix.rows,
            matrix.columns);
    own.host_received[m] = {floats, count};
    floats += count * matrix.term();
    kept += count;
  }
  require(size == payload_header_bytes + 4 * floats && head.kept == static_cast<std::uint64_t>(kept),
          "atomo: payload of {} bytes for {} entries, expected {} and {}", size, head.kept,
          payload_header_bytes + 4 * floats, kept);
}

}  // namespace

Entry atomo() {
  Info info;
  info.name = "atomo";
  info.summary =
      "random singular triples of every tensor, unbiased; with granularity=bucket, all tensors form one vector";
  info.paper = "Wang et al., ATOMO, NeurIPS 2018";
  info.family = Info::Family::low_rank;
  info.host_sizes = true;
  info.fixed_bytes = false;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.feedbacks = {"none"};
  info.granularity = "tensor";
  info.parameters = {
      Parameter::integer("rank", "3", 1, longest_short_side, "mean number of triples that a matrix sends")};
  info.bytes_formula =
      "4 (sum over matrices of 1 + k (rows + columns + 1) + elements of all other tensors), k drawn, rank on average; "
      "matrices with rank (rows + columns + 1) >= rows columns or a short side above 512 count as other";
  info.compress = {4, 0, 0};
  return make_entry<Atomo>(info);
}

}  // namespace gradcomp::compressors
