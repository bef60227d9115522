// block_top_k: sends whole blocks of consecutive elements, those with the highest scores. mask=shared follows Sun et
// al., Optimizing network performance for distributed DNN training on GPU clusters, arXiv 1902.06855, who add the L1
// norms of chunks over the ranks. The blocks are those of OmniReduce (Fei et al., SIGCOMM 2021), which sends all blocks
// that are not zero.
//
// Every segment is cut into blocks of `block` elements. The last block may be short, and a segment shorter than `block`
// is one block. Of B blocks, the max(1, floor(ratio B)) with the highest scores are sent; ties go to the lowest block
// number. `score` is l2 (the norm and not its square, so that it fits in 32 bits), l1 or max. A score is at most half
// of the largest float / ranks, so that a sum of scores is not finite only if a rank flags the step. The energy that is
// sent lies between that of random_k and that of top_k; with block=1 the method is top_k.
//
// mask=shared: round 0 adds the scores of all ranks (4 bytes per block), and every rank chooses the same blocks. Round
// 1 adds their values. No index travels, and the density stays at ratio for any number of ranks.
//
// mask=private: each rank chooses its own blocks. Its payload, which is gathered, holds the u32 block numbers, counted
// through the bucket, in ascending order, and then the f32 values of the blocks.
//
// In both, the values of a short block are padded with zeros to the block's length. State::kept includes this padding,
// up to n. OmniReduce sets what it does not send to zero in the gradient. Here the memory of the source keeps it, and
// what is sent and what stays add up to a, bit for bit.
//
// A rank whose gradient is not finite puts NaN into element 0 of round 0. A sum of values that overflows ends the run
// too.
//
// Bytes: mask=shared 4 B + 4 (sum of the lengths of the chosen blocks); mask=private has no 4 B, but 4 bytes more for
// each chosen block. Passes: 2 reads and 1 write with the residual; chosen blocks are read and written once more.
#include <limits>
#include <utility>

#include "gradcomp/compressors/detail/sparse/blocks.hpp"
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/arrays.hpp"
#include "gradcomp/kernels/select/scatter.hpp"

namespace gradcomp::compressors {
namespace {

/// Work space of one bucket: 8 (ratio n + blocks) bytes besides the tables. Nothing persists between steps.
struct BlockState final : State {
  BlockState(const Layout& bucket, index_t block, double ratio)
      : State(indexable(bucket)),
        plan(layout, block, ratio),
        tiles(plan.scores),
        first(tiles, kernels::Statistics::largest),
        selector(tiles, ratio),
        payload("gradcomp::compressors::block_top_k::payload",
                static_cast<std::size_t>(payload_header_bytes + 4 * (plan.chosen + plan.values))),
        chosen(reinterpret_cast<std::uint32_t*>(payload.data() + payload_header_bytes),
               static_cast<std::size_t>(plan.chosen)),
        values(reinterpret_cast<float*>(payload.data() + payload_header_bytes + 4 * plan.chosen),
               static_cast<std::size_t>(plan.values)),
        value_sum(kernels::zeroed<float>("gradcomp::compressors::block_top_k::value_sum", plan.values)),
        scores(kernels::zeroed<float>("gradcomp::compressors::block_top_k::scores", plan.blocks())),
        score_sum(kernels::zeroed<float>("gradcomp::compressors::block_top_k::score_sum", plan.blocks())),
        chosen_scores(kernels::zeroed<float>("gradcomp::compressors::block_top_k::chosen_scores", plan.chosen)),
        bad("gradcomp::compressors::block_top_k::bad", 1) {
    for (const auto& s : plan.on_host) {
      selections.push_back({s.chosen, true, 0, s.chosen});
      target.push_back(std::min(s.elements, s.chosen * s.length));
    }
    kept = target;
  }

  index_t scratch_bytes() const override {
    return tiles.bytes() + first.bytes() + selector.bytes() + static_cast<index_t>(payload.size()) +
           4 * (plan.values + 2 * plan.blocks() + plan.chosen) +
           static_cast<index_t>(plan.segments.size() * sizeof(SegmentBlocks));
  }

  /// Chooses the blocks with the highest scores in `from`. Returns false if some rank's gradient was not finite.
  bool choose(const Exec& exec, const Vector<float>& from) {
    Source source;  // its elements are scores
    source.count = plan.blocks();
    source.gradient = from.data();
    first.run(exec, tiles, source);
    if (first.non_finite() > 0) return false;
    selector.choose(exec, tiles, source, first, selections);
    selector.emit(exec, tiles, source, chosen.data(), chosen_scores.data());
    return true;
  }

  BlockPlan plan;
  kernels::Tiles tiles;  ///< of the scores
  kernels::FirstPass first;
  kernels::Selector selector;
  std::vector<kernels::Selection> selections;
  Vector<std::byte> payload;   ///< header, chosen, values; with mask=private it is the message
  Span<std::uint32_t> chosen;  ///< [plan.chosen] in the payload
  Span<float> values;          ///< [plan.values] in the payload
  Vector<float> value_sum;
  Vector<float> scores, score_sum, chosen_scores;
  Vector<index_t> bad;
  bool lost = false;  ///< some rank's gradient was not finite
};

/// With mask=private the ranks choose different blocks, so their values cannot be summed: the message is bytes.
Info with_mask(Info info, const ParameterValues& options) {
  if (options.text("mask") == "private") {
    info.rounds = {MessageKind::bytes};
    info.reducer = "allgather";
  }
  return info;
}

BlockScore score_of(const ParameterValues& options) {
  const std::string& name = options.text("score");
  return name == "l2" ? BlockScore::l2 : name == "l1" ? BlockScore::l1 : BlockScore::max;
}

Message summable(const Span<float>& data, const Vector<float>& result) {
  Message message;
  message.count = static_cast<index_t>(data.size());
  message.data = data.data();
  message.result = result.data();
  return message;
}

}  // namespace

class BlockTopK final : public Compressor {
 public:
  BlockTopK(Info info, ParameterValues options)
      : Compressor(with_mask(std::move(info), options), options),
        m_ratio(options.real("ratio")),
        m_block(options.integer("block")),
        m_score(score_of(options)),
        m_private(options.text("mask") == "private") {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<BlockState>(layout, m_block, m_ratio);
  }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    index_t words = 0;
    for (const auto& segment : layout.segments) {
      const index_t length = std::min(m_block, segment.count);
      if (length == 0) continue;
      const index_t blocks = (segment.count + length - 1) / length, chosen = target_kept(m_ratio, blocks);
      words += chosen * length + (m_private ? chosen : blocks);
    }
    return 4 * words;
  }

  Message produce(const Exec& exec, int round, const Step& step, State& state) const override {
    auto& own = state.as<BlockState>();
    const Source& source = step.source;
    if (round == 1) return send_values(exec, own, source);
    own.kept = own.target;
    const float limit =
        0.5f * std::numeric_limits<float>::max() / static_cast<float>(step.context.ranks);  // keeps sums finite
    score_blocks(exec, own.plan, source, m_score, limit, own.bad, own.scores);
    if (!m_private) return summable(own.scores, own.score_sum);
    const PayloadHeader head = header(source.count, kept_of(own));
    if (!own.choose(exec, own.scores)) return send_flag(exec, own, head, own.payload);
    gather_blocks(exec, own.plan, own.chosen, source, own.values);
    Message message;
    message.kind = MessageKind::bytes;
    message.payload = own.payload;
    message.size = static_cast<index_t>(own.payload.size());
    write_header(exec, head, message.payload);
    return message;
  }

  void consume(const Exec& exec, int round, const Message&, const Step&, State& state) const override {
    auto& own = state.as<BlockState>();
    if (round == 0) own.lost = !own.choose(exec, own.score_sum);
  }

  void finish(const Exec& exec, const Step& step, State& state) const override {
    auto& own = state.as<BlockState>();
    if (own.lost || kernels::count_non_finite(exec, own.value_sum) > 0) return count_diverged(exec, step.faults);
    Kokkos::deep_copy(exec, step.mean, 0.0f);
    scatter_blocks(exec, own.plan, own.chosen, own.value_sum, 1.0f / static_cast<float>(step.context.ranks), step.mean);
  }

  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override {
    auto& own = state.as<BlockState>();
    const Span<const std::byte>& payload = received.bytes;
    const PayloadHeader head = read_header(exec, payload, header(own.layout.count(), 0));
    if (head.diverged()) return take_flag(exec, received, info().name, out);
    const index_t kept = kept_of(own), bytes = payload_capacity(own.layout);
    require(head.kept == static_cast<std::uint64_t>(kept) && static_cast<index_t>(payload.size()) == bytes,
            "block_top_k: payload of {} entries and {} bytes, expected {} and {}", head.kept, payload.size(), kept,
            bytes);
    require(reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) == 0,
            "block_top_k: payload is not aligned to {} bytes", alignof(float));
    const auto* const start = payload.data() + payload_header_bytes;
    const Span<const std::uint32_t> chosen(reinterpret_cast<const std::uint32_t*>(start), own.chosen.size());
    const Span<const float> values(reinterpret_cast<const float*>(start + 4 * own.plan.chosen), own.values.size());
    const index_t bad = count_bad_blocks(exec, own.plan, chosen) + kernels::count_non_finite(exec, values);
    require(bad == 0, "block_top_k: payload with {} block numbers out of range or order, or values that are not finite",
            bad);
    scatter_blocks(exec, own.plan, chosen, values, received.weight, out);
  }

 private:
  static index_t kept_of(const BlockState& own) {
    index_t kept = 0;
    for (const index_t k : own.target) kept += k;
    return kept;
  }

  /// The second round of mask=shared. Without a choice the values are old ones, which nobody reads.
  static Message send_values(const Exec& exec, BlockState& own, const Source& source) {
    if (!own.lost) gather_blocks(exec, own.plan, own.chosen, source, own.values);
    return summable(own.values, own.value_sum);
  }

  double m_ratio;
  index_t m_block;
  BlockScore m_score;
  bool m_private;
};

Entry block_top_k() {
  Info info;
  info.name = "block_top_k";
  info.summary = "whole blocks with the highest scores; by default, all ranks send the same blocks, which are summed";
  info.paper = "Fei, Ho, Sahu, Canini & Sapio, OmniReduce, SIGCOMM 2021; Sun et al., arXiv 1902.06855";
  info.family = Info::Family::sparsifier;
  info.host_sizes = true;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducer = "allreduce";
  info.feedback = "residual";
  info.feedbacks = {"none", "residual", "momentum_correction", "ef21"};
  info.parameters = {
      Parameter::real("ratio", "0.01", 0, 1, "target density: blocks sent / blocks of each segment", true),
      Parameter::integer("block", "256", 1, 1048576, "number of elements in a block"),
      Parameter::choice("score", "l2", {"l2", "l1", "max"}, "norm by which blocks are chosen"),
      Parameter::choice("mask", "shared", {"shared", "private"},
                        "shared: chosen by scores summed over ranks, values are summed; private: each rank chooses its "
                        "own, values are gathered"),
  };
  info.bytes_formula =
      "4 B + 4 b k, B = blocks of b elements, k = sum over segments of max(1, floor(ratio B)) (mask=private: 4 (b + 1) "
      "k); segments shorter than b are one block of their length";
  info.compress = {1, 0, 1};
  return make_entry<BlockTopK>(info);
}

}  // namespace gradcomp::compressors
