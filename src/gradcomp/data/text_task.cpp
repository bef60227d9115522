#include "gradcomp/data/text_task.hpp"

#include <algorithm>
#include <utility>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/shards.hpp"
#include "gradcomp/data/spec.hpp"
#include "gradcomp/data/text.hpp"

namespace gradcomp::data {
namespace {

using Tokens = std::vector<std::int32_t>;

/// Fills batch.tokens and batch.labels with the sequences that begin at the positions batch.indices.
void fill_sequences(const Tokens& text, index_t length, Batch& batch) {
  batch.tokens.resize(batch.indices.size() * static_cast<std::size_t>(length));
  batch.labels.resize(batch.tokens.size());
  for (std::size_t i = 0; i < batch.indices.size(); ++i) {
    const auto first = text.begin() + batch.indices[i];
    const auto out = static_cast<std::ptrdiff_t>(i) * length;
    std::copy_n(first, length, batch.tokens.begin() + out);
    std::copy_n(first + 1, length, batch.labels.begin() + out);
  }
}

/// A validation or test text with `chunks` x length tokens to predict, cut into pieces of whole chunks.
struct Pieces {
  static constexpr index_t max_chunks = 32;

  explicit Pieces(index_t all) : chunks(all), count(std::min(max_chunks, all)) {}

  index_t chunks, count;

  /// The first chunks % count pieces have one more chunk than the others.
  index_t size(index_t piece) const { return chunks / count + (piece < chunks % count ? 1 : 0); }
  index_t first(index_t piece) const { return piece * (chunks / count) + std::min(piece, chunks % count); }
};

class TextTask final : public Task {
 public:
  TextTask(TextData data, index_t length)
      : m_data(std::move(data)),
        m_length(length),
        m_validation(pieces(m_data.validation)),
        m_test(pieces(m_data.test)) {
    if (m_data.cross_entropy) m_floor = m_data.cross_entropy(tested());
    m_data.name += fmt::format(":length={}", length);
  }

  const std::string& name() const override { return m_data.name; }
  const std::string& crc() const override { return m_data.crc; }
  InputShape shape() const override {
    InputShape shape;
    shape.kind = InputShape::Kind::tokens;
    shape.length = m_length;
    shape.classes = std::ssize(m_data.vocabulary);
    return shape;
  }
  double loss_floor() const override { return m_floor; }
  Trivial trivial() const override {
    return trivial_predictor(count_labels(m_data.train), count_labels(tested().subspan(1)),
                             std::ssize(m_data.vocabulary));
  }

  index_t steps_per_epoch(const Shard& shard) const override {
    require(shard.batch >= 1 && shard.rank >= 0 && shard.rank < shard.ranks,
            "batch {} of rank {} of {} ranks is not allowed; at least 1 sequence, ranks numbered from 0", shard.batch,
            shard.rank, shard.ranks);
    require(shard.skew == 0, "{}: skew {} is not allowed; a text has no classes, so only 0", m_data.name, shard.skew);
    const index_t sequences = shard.batch * shard.ranks, tokens = std::ssize(m_data.train) - 1;
    const index_t steps = tokens / sequences / m_length;
    require(steps >= 1, "{}: {} sequences ({} ranks x {}) of {} tokens are more than the {} of the training text",
            m_data.name, sequences, shard.ranks, shard.batch, m_length, tokens);
    return steps;
  }

  Loader::Fill training(const Shard& shard) const override {
    return [this, shard, steps = steps_per_epoch(shard)](Batch& batch) {
      const index_t step = batch.step % steps;
      batch.epoch = batch.step / steps;
      batch.restart = step == 0;
      batch.indices.resize(static_cast<std::size_t>(shard.batch));
      for (index_t i = 0; i < shard.batch; ++i) {
        batch.indices[static_cast<std::size_t>(i)] = ((i * shard.ranks + shard.rank) * steps + step) * m_length;
      }
      fill_sequences(m_data.train, m_length, batch);
    };
  }

  /// The text is cut into sequences without gaps. Each of them begins without a hidden state.
  std::vector<index_t> samples(const Shard& shard) const override {
    steps_per_epoch(shard);  // throws if the text is too small or has a skew
    std::vector<index_t> own = dealt_samples((std::ssize(m_data.train) - 1) / m_length, shard);
    for (index_t& sequence : own) sequence *= m_length;
    return own;
  }
  void fill(const Shard&, Batch& batch) const override {
    batch.restart = true;
    fill_sequences(m_data.train, m_length, batch);
  }
  index_t sample_bytes() const override { return (m_length + 1) * static_cast<index_t>(sizeof(std::int32_t)); }

  bool held_out(Split split, const Shard& shard, index_t number, Batch& batch) const override {
    const Tokens& text = split == Split::test ? m_data.test : m_data.validation;
    const Pieces& pieces = split == Split::test ? m_test : m_validation;
    // Walks the pieces of this rank in groups of equal size: first the longer pieces, then the others.
    const index_t longer = pieces.chunks % pieces.count;
    index_t piece = shard.rank, left = number;
    while (piece < pieces.count) {
      const index_t end = piece < longer ? longer : pieces.count;
      const index_t members = std::min(shard.batch, (end - piece + shard.ranks - 1) / shard.ranks);
      const index_t steps = pieces.size(piece);
      if (left < steps) {
        batch.step = number;
        batch.epoch = 0;
        batch.restart = left == 0;
        batch.indices.clear();
        for (index_t m = 0; m < members; ++m) {
          batch.indices.push_back((pieces.first(piece + m * shard.ranks) + left) * m_length);
        }
        fill_sequences(text, m_length, batch);
        return true;
      }
      left -= steps;
      piece += members * shard.ranks;
    }
    return false;
  }

 private:
  Pieces pieces(const Tokens& text) const {
    const index_t tokens = std::ssize(text) - 1;
    require(tokens >= m_length, "{}: length={} is more than the {} tokens to predict of the {} text", m_data.name,
            m_length, tokens, &text == &m_data.test ? "test" : "validation");
    return Pieces(tokens / m_length);
  }

  /// The tokens of the test text that a model sees.
  std::span<const std::int32_t> tested() const {
    return std::span<const std::int32_t>(m_data.test).first(static_cast<std::size_t>(m_test.chunks * m_length) + 1);
  }

  TextData m_data;
  index_t m_length;
  Pieces m_validation, m_test;
  double m_floor = 0;
};

}  // namespace

std::unique_ptr<Task> make_text_task(const std::string& text, index_t length) {
  std::string spec = text;
  length = take_length(spec, length);
  if (length == 0) length = find_dataset(spec, "text", is_text).length;
  return std::make_unique<TextTask>(open_text(spec), length);
}

}  // namespace gradcomp::data
