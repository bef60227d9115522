#include "gradcomp/data/text_files.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/options.hpp"
#include "gradcomp/data/files.hpp"
#include "gradcomp/data/tokens.hpp"

namespace gradcomp::data {
namespace {

Parameter vocabulary_parameter(const char* value) {
  return Parameter::integer("vocabulary", value, 0, 1e9, "largest vocabulary, with <unk> and <eos>; 0: all words");
}

/// A text and the path of its file.
struct Part {
  std::string path;
  std::string_view text;
};

/// Fills in vocabulary, train, validation and test, and adds the options to the name.
void encode(TextData& data, const ParameterValues& given, const Part& train, const Part& validation, const Part& test,
            Level level) {
  const index_t max_words = given.integer("vocabulary");
  require(max_words == 0 || max_words >= 3, "{}: vocabulary={} is not allowed; at least 3, or 0 for all words",
          data.name, max_words);
  const Vocabulary vocabulary(train.text, level, max_words);
  const auto fill = [&](const Part& part, const char* use, std::vector<std::int32_t>& tokens) {
    vocabulary.encode(part.text, tokens);
    require(tokens.size() >= 2, "'{}' is too short: {} tokens to {} on, at least 2", part.path, tokens.size(), use);
  };
  fill(train, "train", data.train);
  fill(validation, "validate", data.validation);
  fill(test, "test", data.test);
  data.vocabulary = vocabulary.words();
  data.name += ":" + given.canonical();
}

}  // namespace

TextData read_published(const Spec& spec, const char* train, const char* valid, const char* test) {
  const ParameterValues given(spec.kind, {vocabulary_parameter("0")}, split_pairs(spec.kind, spec.options));
  const std::filesystem::path folder = spec.path;
  require(is_folder(folder), "{}: '{}' is not a folder; expected one with {}, {} and {}", spec.kind, spec.path, train,
          valid, test);
  TextData data;
  data.name = spec.kind;
  const std::string paths[] = {(folder / train).string(), (folder / valid).string(), (folder / test).string()};
  const std::string texts[] = {read_text(paths[0]), read_text(paths[1]), read_text(paths[2])};
  encode(data, given, {paths[0], texts[0]}, {paths[1], texts[1]}, {paths[2], texts[2]}, Level::split);
  return data;
}

namespace {

/// Where the last `share` of the text begins: after the end of the line with byte size x (1 - share) or, if that is the
/// last line, after the end of the word.
std::size_t cut(std::string_view text, double share) {
  const auto from = static_cast<std::size_t>(static_cast<double>(text.size()) * (1 - share));
  auto end = text.find('\n', from);
  if (end == std::string_view::npos || end + 1 == text.size()) end = text.find(' ', from);
  return end == std::string_view::npos ? text.size() : end + 1;
}

}  // namespace

TextData read_text_file(const Spec& spec, const char* vocabulary) {
  const ParameterValues given(
      spec.kind,
      {Parameter::choice("level", "word", {"word", "char"}, "unit of a token"), vocabulary_parameter(vocabulary),
       Parameter::choice("case", "lower", {"lower", "keep"}, "lower: change A to Z into a to z"),
       Parameter::real("test", "0.05", 0, 0.45,
                       "share of the text for testing; an equal share before it is for validation", true)},
      split_pairs(spec.kind, spec.options));
  std::string text = read_text(spec.path);
  if (given.text("case") == "lower") to_lower_case(text);
  const std::string_view all = text;
  const double share = given.real("test");
  const std::size_t test = cut(all, share), validation = std::min(cut(all, 2 * share), test);
  TextData data;
  data.name = spec.kind;
  encode(data, given, {spec.path, all.substr(0, validation)}, {spec.path, all.substr(validation, test - validation)},
         {spec.path, all.substr(test)}, given.text("level") == "word" ? Level::words : Level::characters);
  return data;
}

}  // namespace gradcomp::data
