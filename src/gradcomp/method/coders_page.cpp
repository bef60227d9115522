#include "gradcomp/method/coders_page.hpp"

#include "gradcomp/coders/index_coding.hpp"
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp {
namespace {

template <class Entry>
std::string table(const char* option, const coders::CoderList<Entry>& list) {
  std::string page = fmt::format("\n| `{}` | id | bytes | how |\n|---|---|---|---|\n", option);
  for (const Entry* const coder : list)
    page += fmt::format("| `{}` | {} | `{}` | {} |\n", coder->name, coder->id, coder->size, coder->summary);
  return page;
}

template <class Entry>
std::string lines(const char* option, const coders::CoderList<Entry>& list) {
  std::string page;
  for (const Entry* const coder : list)
    page += fmt::format("    {:<20} {} ({} bytes)\n", fmt::format("{}={}", option, coder->name), coder->summary,
                        coder->size);
  return page;
}

}  // namespace

std::string coders_markdown() {
  return "\n## Coders of sparse payloads\n\n"
         "A sparsifier sends the indices that it kept, then their values. `index=` and `values=` say how both are "
         "written.\n"
         "The header names the two coders by their ids. Both sections are whole words of 4 bytes, so sizes are rounded "
         "up.\n"
         "n is the number of elements, k the number kept. `index=auto` takes the shortest for the entries at hand.\n" +
         table("index", coders::index_coder_list()) + table("values", coders::value_coder_list());
}

std::string coders_text() {
  return "Coders of sparse payloads, k kept of n elements\n" + lines("index", coders::index_coder_list()) +
         lines("values", coders::value_coder_list());
}

}  // namespace gradcomp
