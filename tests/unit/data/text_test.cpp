#include "gradcomp/data/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradcomp/core/error.hpp"
#include "gradcomp/data/registry.hpp"
#include "gradcomp/data/spec.hpp"
#include "gradcomp/data/tokens.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace text_test {

using test::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

std::string write(const TempDir& dir, const std::string& name, const std::string& text) {
  return dir.write(name, test::Bytes(text.begin(), text.end()));
}

std::string error_of(const std::string& spec) {
  try {
    open_text(spec);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  ADD_FAILURE() << spec << " was accepted";
  return "";
}

Words tokens(const std::string& text, Level level) {
  Words out;
  for_each_token(text, level, [&](std::string_view token) { out.emplace_back(token); });
  return out;
}

Words decoded(const TextData& data, const std::vector<std::int32_t>& text) {
  Words out;
  for (const auto t : text) out.push_back(data.vocabulary.at(static_cast<std::size_t>(t)));
  return out;
}

TEST(Spec, OptionsAreAtTheEndAndPathsMayHoldColons) {
  const Spec spec = split_spec("text:/a:b/c=d.txt:level=char:test=0.1");
  EXPECT_EQ(spec.kind, "text");
  EXPECT_EQ(spec.path, "/a:b/c=d.txt");
  EXPECT_EQ(spec.options, "level=char:test=0.1");
  EXPECT_EQ(split_spec("hmm:seed=3").path, "");
  EXPECT_EQ(split_spec("hmm:seed=3").options, "seed=3");
  EXPECT_EQ(split_spec("hmm").kind, "hmm");
  EXPECT_EQ(split_spec("ptb:x").path, "x");
  EXPECT_THROW(split_pairs("o", "a=1:a=2"), Error);
}

TEST(Tokens, Levels) {
  const std::string text = "It's  God's 'day', 7x.\n\nna\xC3\xAFve <unk>";
  EXPECT_THAT(tokens(text, Level::split),
              ElementsAre("It's", "God's", "'day',", "7x.", "<eos>", "<eos>", "na\xC3\xAFve", "<unk>", "<eos>"));
  EXPECT_THAT(tokens(text, Level::words), ElementsAre("It's", "God's", "'", "day", "'", ",", "7x", ".", "<eos>",
                                                      "<eos>", "na\xC3\xAFve", "<", "unk", ">", "<eos>"));
  EXPECT_THAT(tokens("a\xC3\xAF\xF0\x9F\x98\x80 \n", Level::characters),
              ElementsAre("a", "\xC3\xAF", "\xF0\x9F\x98\x80", " ", "\n"));
  EXPECT_THAT(tokens("", Level::words), ElementsAre());
  EXPECT_THAT(tokens("a\r\n", Level::words), ElementsAre("a", "<eos>"));
  EXPECT_THAT(tokens("it'", Level::words), ElementsAre("it", "'", "<eos>"));
}

TEST(Vocabulary, MostFrequentFirstTiesByBytesThenUnknownAndEnd) {
  const std::string text = "b a b c <unk>\nd c c <eos> <eos> <eos> <eos> <eos>\n";
  EXPECT_THAT(Vocabulary(text, Level::split, 0).words(), ElementsAre("c", "b", "a", "d", "<unk>", "<eos>"));
  const Vocabulary few(text, Level::split, 5);
  EXPECT_THAT(few.words(), ElementsAre("c", "b", "a", "<unk>", "<eos>"));
  std::vector<std::int32_t> out;
  few.encode("a x <unk> d\nc", out);
  EXPECT_THAT(out, ElementsAre(2, 3, 3, 3, 4, 0, 4));
  EXPECT_THAT(Vocabulary("aab\n", Level::characters, 0).words(), ElementsAre("a", "\n", "b", "<unk>"));
}

TEST(Text, PublishedSplits) {
  const TempDir dir;
  write(dir, "ptb.train.txt", " the cat <unk> N \n the dog N \n");
  write(dir, "ptb.valid.txt", " the bird \n");
  write(dir, "ptb.test.txt", " a cat \n the <unk>");
  const TextData data = open_text("ptb:" + dir.path());
  EXPECT_EQ(data.name, "ptb:vocabulary=0");
  EXPECT_THAT(decoded(data, data.train), ElementsAre("the", "cat", "<unk>", "N", "<eos>", "the", "dog", "N", "<eos>"));
  EXPECT_THAT(decoded(data, data.validation), ElementsAre("the", "<unk>", "<eos>"));
  EXPECT_THAT(decoded(data, data.test), ElementsAre("<unk>", "cat", "<eos>", "the", "<unk>", "<eos>"));
  EXPECT_THAT(data.vocabulary, ElementsAre("N", "the", "cat", "dog", "<unk>", "<eos>"));
  const TextData few = open_text("ptb:" + dir.path() + ":vocabulary=4");
  EXPECT_THAT(few.vocabulary, ElementsAre("N", "the", "<unk>", "<eos>"));
  EXPECT_NE(few.crc, data.crc);
  EXPECT_EQ(data.crc.size(), 8U);
  EXPECT_FALSE(data.cross_entropy);

  write(dir, "wiki.train.tokens", " \n = Title = \n \n It 's\n");
  write(dir, "wiki.valid.tokens", " Title\n");
  write(dir, "wiki.test.tokens", " It\n");
  const TextData wiki = open_text("wikitext:" + dir.path());
  EXPECT_THAT(decoded(wiki, wiki.train),
              ElementsAre("<eos>", "=", "Title", "=", "<eos>", "<eos>", "It", "'s", "<eos>"));
}

TEST(Text, TheEndOfAFileIsTheTestText) {
  const TempDir dir;
  std::string text;
  for (int line = 0; line < 10; ++line) text += "Line " + std::to_string(line) + ",\n";  // 8 bytes
  const TextData data = open_text("text:" + write(dir, "t:x.txt", text) + ":test=0.2");
  EXPECT_EQ(data.name, "text:level=word:vocabulary=10000:case=lower:test=0.2");
  EXPECT_EQ(data.train.size(), 7U * 4U);  // byte 48 is in the seventh line, byte 64 in the ninth
  EXPECT_EQ(data.validation.size(), 2U * 4U);
  EXPECT_THAT(decoded(data, data.test), ElementsAre("line", "<unk>", ",", "<eos>"));
  const TextData kept = open_text("kjv:" + write(dir, "t:x.txt", text) + ":test=0.2:case=keep:level=char");
  EXPECT_EQ(kept.name, "kjv:level=char:vocabulary=2000:case=keep:test=0.2");
  EXPECT_THAT(decoded(kept, kept.test), ElementsAre("L", "i", "n", "e", " ", "<unk>", ",", "\n"));
  const TextData one_line = open_text("text:" + write(dir, "one", "a b c d e f g h i j") + ":test=0.2");
  EXPECT_EQ(one_line.validation.size(), 3U);                 // "g h <eos>"
  EXPECT_THAT(decoded(one_line, one_line.test).size(), 3U);  // "i j <eos>"
}

TEST(Text, IsUtf8WithoutAByteOrderMark) {
  const TempDir dir;
  std::string text;
  for (int line = 0; line < 10; ++line) text += "a word\n";
  const auto plain = open_text("text:" + write(dir, "plain", text) + ":test=0.2");
  const auto marked = open_text("text:" + write(dir, "marked", "\xEF\xBB\xBF" + text) + ":test=0.2");
  EXPECT_EQ(marked.vocabulary, plain.vocabulary);
  EXPECT_EQ(marked.train, plain.train);
  EXPECT_THAT(error_of("text:" + write(dir, "mark", "\xEF\xBB\xBF")), HasSubstr("is empty"));
  // Byte 64 is in the test text; the place is that in the file.
  EXPECT_THAT(error_of("text:" + write(dir, "byte", text.substr(0, 64) + "\xFF\n") + ":test=0.2"),
              HasSubstr("byte' is not UTF-8 text: no character begins at byte 64"));
  std::string wide;
  for (const char c : text) wide += {c, '\0'};
  EXPECT_THAT(error_of("text:" + write(dir, "utf16", wide)), HasSubstr("byte 1 is 0, as in UTF-16"));
  for (const char* name : {"train", "valid", "test"}) write(dir, std::string("ptb.") + name + ".txt", text);
  write(dir, "ptb.test.txt", text + '\0');
  EXPECT_THAT(error_of("ptb:" + dir.path()), HasSubstr("ptb.test.txt' is not UTF-8 text: byte 70 is 0"));
}

TEST(Text, Hmm) {
  const TextData data = open_text("hmm:tokens=500:test=100");
  EXPECT_EQ(data.train.size(), 500U);
  EXPECT_EQ(data.test.size(), 100U);
  EXPECT_EQ(data.vocabulary.size(), 400U);
  EXPECT_GT(data.cross_entropy(data.test), 2);
  EXPECT_THAT(data.name, HasSubstr("hmm:states=24:"));
}

TEST(Text, SequencesAreAsLongAsInTheFieldUnlessAsked) {
  for (const auto& [spec, length] :
       {std::pair{"ptb:x", 35}, {"wikitext:x", 35}, {"text:x", 32}, {"kjv:x", 32}, {"hmm", 32}}) {
    EXPECT_EQ(find_dataset(spec, "data").length, length) << spec;
  }
}

TEST(Text, ErrorsSayWhatIsAllowed) {
  const TempDir dir;
  for (const char* spec : {"", "kjb:x", "ptb", "text:", "hmm:file", "kjv:level=word"}) {
    EXPECT_THAT(error_of(spec), HasSubstr("kjv:FILE")) << spec;
  }
  EXPECT_THAT(error_of("ptb:/nowhere"), AllOf(HasSubstr("/nowhere"), HasSubstr("ptb.train.txt")));
  EXPECT_THAT(error_of("ptb:" + dir.path()), AllOf(HasSubstr("ptb.train.txt"), HasSubstr("no such file")));
  EXPECT_THAT(error_of("text:" + write(dir, "empty", "")), HasSubstr("is empty"));
  EXPECT_THAT(error_of("text:" + write(dir, "short", "word")), HasSubstr("too short"));
  EXPECT_THAT(error_of("text:" + write(dir, "one", "a b c d\n")), HasSubstr("too short"));
  const std::string good = write(dir, "good", "a b\nc d\ne f\n");
  EXPECT_THAT(error_of("text:" + good + ":vocabulary=2"), HasSubstr("at least 3"));
  EXPECT_THAT(error_of("text:" + good + ":test=1"), HasSubstr("(0, 0.45]"));
  EXPECT_THAT(error_of("text:" + good + ":level=byte"), HasSubstr("word, char"));
  EXPECT_THAT(error_of("text:" + good + ":part=test"), HasSubstr("unknown option 'part'"));
}

}  // namespace text_test
}  // namespace gradcomp::data
