#include "gradcomp/method/methods_page.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "gradcomp/compressors/composition/composition.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/exchange/reducer.hpp"
#include "gradcomp/exchange/registry.hpp"
#include "gradcomp/method/coders_page.hpp"
#include "gradcomp/method/scale_range.hpp"
#include "gradcomp/method/spec.hpp"

namespace gradcomp {
namespace {

std::string rounds_of(const Info& info) {
  std::vector<std::string> words;
  for (const MessageKind kind : info.rounds) words.push_back(kind == MessageKind::summable ? "summable" : "bytes");
  return fmt::format("{}", fmt::join(words, ", "));
}

/// `text` as a cell of a table, in which '|' is escaped and line ends become spaces.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c == '\n' ? ' ' : c);
  return safe;
}

std::string parameter_table(const std::vector<Parameter>& parameters) {
  std::string page = "| option | default | allowed | meaning |\n|---|---|---|---|\n";
  for (const auto& p : parameters)
    page += fmt::format("| `{}` | `{}` | {} | {} |\n", p.name, p.default_value, cell(p.allowed()), cell(p.help));
  return page;
}

/// "1 read, 2 updated"; "none".
std::string moves(const Moves& moved) {
  std::vector<std::string> words;
  for (const auto& [count, word] :
       {std::pair{moved.read, "read"}, {moved.written, "written"}, {moved.updated, "updated"}})
    if (count > 0) words.push_back(fmt::format("{} {}", count, word));
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string section(const Info& info) {
  std::string page = fmt::format("\n## {}\n\n{}.\n\n", info.name, cell(info.summary));
  page += fmt::format("- Source: {}\n", cell(info.paper));
  page += fmt::format("- Family: {}; error: {}\n", to_string(info.family), to_string(info.property));
  page += fmt::format("- Rounds: {}; reducers: {} (the first is the default)\n", rounds_of(info),
                      fmt::join(reducers_of(info), ", "));
  page += fmt::format(
      "- Payload bytes, header apart: `{}`; arrays of n floats moved besides: {} to compress, {} to decompress\n",
      info.bytes_formula, moves(info.compress), moves(info.decompress));
  page += fmt::format("- Range: {}\n", scale_range_text(info));
  page += fmt::format("- Defaults: `feedback={}`, `granularity={}`, learning rate x {}\n", info.feedback,
                      info.granularity, info.learning_rate_scale);
  return page + (info.parameters.empty() ? "" : "\n" + parameter_table(info.parameters));
}

/// The union of the common options of all methods: options of a reducer exist only for methods that allow the reducer.
std::vector<Parameter> all_common_parameters() {
  std::vector<Parameter> all;
  for (const auto& entry : all_entries()) {
    auto behind = all.begin();  // the place behind the previous option of this method
    for (const auto& p : common_parameters(entry.info)) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const Parameter& q) { return q.name == p.name; });
      behind = (found == all.end() ? all.insert(behind, p) : found) + 1;
    }
  }
  return all;
}

/// The table of common options. The allowed reducers differ between methods, so their sections list them.
std::string common_table() {
  std::string page = "| option | allowed | meaning |\n|---|---|---|\n";
  for (const auto& p : all_common_parameters()) {
    const std::string allowed = p.name == "reducer" ? "one of the method's reducers" : p.allowed();
    page += fmt::format("| `{}` | {} | {} |\n", p.name, cell(allowed), cell(p.help));
  }
  return page + "| `label` | any words | name in tables instead of the spec |\n";
}

/// Turns the names "a, b" into "`a`, `b`".
std::string quoted(const std::string& names) {
  std::string page = "`";
  for (const char c : names)
    page += c == ',' ? std::string("`") + c : c == ' ' ? std::string(1, c) + "`" : std::string(1, c);
  return page + "`";
}

std::string compositions() {
  return fmt::format(
      "\n## Compositions\n\n"
      "In `SPARSIFIER+CODER`, the value coder codes the kept values as one tensor. In `METHOD+huffman`, the bytes of "
      "the\n"
      "message are sent in Huffman codes. `SPARSIFIER+CODER+huffman` does both. Options of every method belong to the "
      "first\n"
      "part. The reducer `allgather` carries all compositions; `two_phase` and `requantising_ring` carry only\n"
      "`METHOD+huffman`, if they carry the method.\n\n"
      "- Sparsifiers before a value coder (with `values=f32`): {}\n"
      "- Value coders: {}, `terngrad:code=2bit`\n"
      "- Before `huffman`: every method and hybrid with a single round of bytes\n",
      quoted(compressors::hybrid_sparsifier_names()), quoted(compressors::value_coder_names()));
}

}  // namespace

std::string default_spec(const Info& info) {
  const std::string own = ParameterValues(info.name, info.parameters, {}).canonical();
  return info.name + (own.empty() ? "" : ":" + own);
}

std::string methods_markdown() {
  std::string page =
      "# Methods\n\n"
      "`gradcomp-methods --list=markdown` generates this page from the descriptions in the sources; do not edit it. In "
      "the\n"
      "formulas, n is the number of elements and k the number of kept elements. [Concepts](concepts.md#method-spec)\n"
      "explains method specs.\n\n"
      "| method | family | rounds | payload bytes | feedback | summary |\n|---|---|---|---|---|---|\n";
  for (const auto& [info, make] : all_entries()) {
    page += fmt::format("| [`{}`](#{}) | {} | {} | `{}` | {} | {} |\n", default_spec(info), info.name,
                        to_string(info.family), rounds_of(info), cell(info.bytes_formula), info.feedback,
                        cell(info.summary));
  }
  page +=
      "\n## Range of a gradient\n\n"
      "The largest magnitude of a tensor may be anything from 0.01 to 60000 for every method, and from 4e-27 to\n"
      "6e35 for all but `fp16`, `natural` and `gaussian_k`. The section of a method names its own range, with\n"
      "default options. Inside, a gradient that is 2^j times as large has the same codes and an answer that is 2^j\n"
      "times as large. Below it, numbers become denormal and lose digits. A gradient of finite numbers always has a\n"
      "finite answer, or the run of the method ends as diverged on all ranks.\n";
  for (const auto& entry : all_entries()) page += section(entry.info);
  page += "\n## Options of every method\n\nIf a method declares a default of its own, its section above shows it.\n\n";
  return page + common_table() + coders_markdown() + compositions();
}

std::string methods_text() {
  std::string page;
  for (const auto& [info, make] : all_entries()) {
    page += fmt::format("{}\n    {}\n", default_spec(info), info.summary);
    for (const auto& p : info.parameters)
      page += fmt::format("    {:<20} {} (default {}; {})\n", p.name, p.help, p.default_value, p.allowed());
  }
  page += "Options of every method\n";
  for (const auto& p : all_common_parameters()) {
    const std::string allowed = p.name == "reducer" ? "one of the method's reducers" : p.allowed();
    page += fmt::format("    {:<20} {} ({})\n", p.name, p.help, allowed);
  }
  page += fmt::format("    {:<20} {}\n", "label", "name in tables instead of the spec");
  page += coders_text();
  page += "Compositions: SPARSIFIER+CODER, METHOD+huffman, SPARSIFIER+CODER+huffman\n";
  return page + fmt::format("    {:<20} {}\n    {:<20} {}\n", "SPARSIFIER", compressors::hybrid_sparsifier_names(),
                            "CODER", compressors::value_coder_names());
}

}  // namespace gradcomp
