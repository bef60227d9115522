#include "gradcomp/method/methods_page.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gradcomp/core/registry.hpp"
#include "source_dir.hpp"

namespace gradcomp {

TEST(MethodsPage, CommittedPageIsTheGeneratedOne) {
  std::ifstream file(std::filesystem::path(source_dir) / "docs/methods.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string made = methods_markdown();
  // EXPECT_EQ would print two long pages, which would hide the remedy.
  EXPECT_TRUE(page == made) << "docs/methods.md is out of date; regenerate it with\n"
                               "  ./run exec -- gradcomp-methods --list=markdown > docs/methods.md";
}

TEST(MethodsPage, ListsEveryMethodAndParameter) {
  const std::string markdown = methods_markdown(), text = methods_text();
  for (const auto& entry : all_entries()) {
    EXPECT_THAT(markdown, testing::HasSubstr("\n## " + entry.info.name + "\n"));
    EXPECT_THAT(text, testing::HasSubstr(default_spec(entry.info) + "\n"));
    for (const auto& p : entry.info.parameters) EXPECT_THAT(text, testing::HasSubstr("    " + p.name + " "));
  }
}

TEST(MethodsPage, ListsTheCodersOfSparsePayloads) {
  const std::string markdown = methods_markdown(), text = methods_text();
  EXPECT_THAT(markdown, testing::HasSubstr("| `rice` | 4 |"));
  EXPECT_THAT(markdown, testing::HasSubstr("| `int8` | 3 | `k + 4 ceil(k / 256)` |"));
  EXPECT_THAT(text, testing::HasSubstr("    index=bitmap "));
  EXPECT_THAT(text, testing::HasSubstr("    values=bf16 "));
}

TEST(MethodsPage, ListsWhatCanBeComposed) {
  const std::string markdown = methods_markdown(), text = methods_text();
  EXPECT_THAT(markdown, testing::HasSubstr("`max_min`, `natural`"));
  EXPECT_THAT(markdown, testing::HasSubstr("`sidco`, `top_k`\n"));
  EXPECT_THAT(text, testing::HasSubstr("sidco, top_k\n"));
  EXPECT_THAT(text, testing::HasSubstr("natural, natural_dithering, qsgd\n"));
}

}  // namespace gradcomp
