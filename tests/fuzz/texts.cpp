// Texts to train on, in UTF-8.
#include <array>

#include "fuzz/fuzz.hpp"
#include "gradcomp/core/utf8.hpp"
#include "gradcomp/data/text_task.hpp"

namespace gradcomp::fuzz {
namespace {

constexpr std::array options = {":test=0.3", ":level=char", ":test=0.4:case=keep:vocabulary=5",
                                ":level=char:case=keep:test=0.3:vocabulary=4", ":test=0.45"};

}  // namespace

void read(Input input) {
  const std::string option = options[take(input) % options.size()];
  const std::string line = as_line(text_of(input));
  if (line.find('\n') != std::string::npos) broken("as_line() returned more than a line");
  require_text("as_line()", line);
  const File file(input);
  const auto task = data::make_text_task("text:" + file.path() + option, 2);
  data::Batch batch;
  for (const data::Split split : {data::Split::validation, data::Split::test})
    task->held_out(split, {4, 0, 1}, 0, batch);
}

std::vector<Bytes> seeds() {
  constexpr const char* text =
      "In the beginning God created the heaven, and the earth.\nAnd the earth was without form -- it's void;\n\n"
      "\xC3\xA9t\xC3\xA9 \xE2\x82\xAC 5 \xF0\x9F\x8E\xB2\r\n\tAnd God said, Let there be light: and there was light.\n";
  std::vector<Bytes> all{with_choice({4}, "\xEF\xBB\xBF one two three one two three one two three one two three")};
  for (std::size_t option = 0; option < options.size(); ++option)
    all.push_back(with_choice({static_cast<std::uint8_t>(option)}, text));
  return all;
}

}  // namespace gradcomp::fuzz
