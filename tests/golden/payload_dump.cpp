// payload_dump FILE: runs every registered method and some compositions on small gradients, and writes for each step
// all that is sent and the decoded mean. payloads.py compares the mean with that of an independent decoder.
//
// FILE holds for each step a line of JSON, then the messages of the ranks one after the other, then the mean as f32.
#include <Kokkos_Core.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

using namespace gradcomp;
using namespace gradcomp::conformance;

namespace {

constexpr int rank_count = 3;  // not a power of two, so that shares of the mean are rounded
constexpr std::uint64_t seed = 7;

/// Specs beside those of the conformance suite: every index coder with every value coder, and what needs two options.
std::vector<std::string> more_specs() {
  std::vector<std::string> specs = {
      "qsgd:levels=100:coding=elias:group=8192",
      "linear_dithering:bits=3:coding=elias:group=256",
      "natural_dithering:coding=elias:norm=l2",
      "sign+huffman",
      "top_k:ratio=0.5:index=auto+natural",
      "global_qsgd:bits=16:feedback=residual",
      "global_qsgd:bits=4:feedback=residual",
      "block_top_k:block=32:ratio=0.2",
      "block_top_k:block=100:mask=private",
      "random_k:seed=private:scale=unbiased:feedback=none",
      "adaptive_threshold:quanta=multi",
      "sketch:ratio=0.05:rows=3:columns=100",
      "powersgd:rank=2:orthogonalise=householder",
      "top_k:ratio=0.39:index=rice",  // 391 of 1003: just behind a limit of the width of a remainder
  };
  for (const char* index : {"u32", "packed", "bitmap", "delta", "rice", "elias_fano", "auto"}) {
    for (const char* values : {"f32", "f16", "bf16", "int8"}) {
      for (const char* ratio : {"0.01", "0.3"})
        specs.push_back(fmt::format("top_k:ratio={}:index={}:values={}", ratio, index, values));
    }
  }
  return specs;
}

/// Normal values, among them zeros, denormals, and values of very different size.
std::vector<float> mixed(index_t count, std::uint64_t key) {
  std::vector<float> values = make_data("laplace", count, key);
  const std::vector<float> tiny = make_data("denormals", count, key + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 5 == 2) values[i] = tiny[i];
    if (i % 7 == 3) values[i] = i % 2 == 0 ? 0.0f : -0.0f;
    if (i % 11 == 4) values[i] *= 0x1p-20f;
  }
  return values;
}

std::vector<float> gradient(const std::string& data, index_t count, std::uint64_t key) {
  if (data != "not_finite") return data == "mixed" ? mixed(count, key) : make_data(data, count, key);
  std::vector<float> values = mixed(count, key);
  if (!values.empty()) values[values.size() / 2] = std::numeric_limits<float>::infinity();
  return values;
}

nlohmann::json described(const Layout& layout) {
  nlohmann::json segments = nlohmann::json::array();
  for (const Segment& s : layout.segments)
    segments.push_back({{"id", s.id}, {"shape", s.shape}, {"outputs_first", s.outputs_first}});
  return segments;
}

void write_steps(std::ofstream& file, const std::string& spec, const NamedLayout& layout, const std::string& data) {
  const MethodSpec method = parse_method(spec);
  auto ranks = make_ranks(method, layout.layout, rank_count);
  for (std::int64_t step = 0; step < 2; ++step) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const bool last = r + 1 == ranks.size();  // one rank alone has a gradient that is not finite
      ranks[r].set_gradient(gradient(data == "not_finite" && !last ? "mixed" : data, ranks[r].count,
                                     100 * static_cast<std::uint64_t>(step) + r));
    }
    const StepResult done = run_step(ranks, step, seed);
    nlohmann::json line{{"spec", spec},
                        {"method", method.compressor->info().name},
                        {"options", method.compressor->options().canonical()},
                        {"feedback", method.common.text("feedback")},
                        {"layout", described(layout.layout)},
                        {"case", layout.name + " " + data},
                        {"seed", seed},
                        {"step", step},
                        {"diverged", done.diverged > 0},
                        {"elements", layout.layout.count()},
                        {"sizes", nlohmann::json::array()}};
    for (const auto& message : done.messages) line["sizes"].push_back(message.size());
    file << line.dump() << '\n';
    for (const auto& message : done.messages)
      file.write(reinterpret_cast<const char*>(message.data()), static_cast<std::streamsize>(message.size()));
    const std::vector<float>& mean = done.out[0];
    file.write(reinterpret_cast<const char*>(mean.data()), static_cast<std::streamsize>(4 * mean.size()));
    if (done.diverged > 0) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::ofstream file(argv[1], std::ios::binary);
  std::vector<NamedLayout> all = layouts();
  all.push_back({"n9003", Layout::flat(9003)});  // more than one group, chunk or stream of every coding
  std::vector<std::string> specs = all_specs().run;
  for (const std::string& spec : more_specs()) specs.push_back(spec);
  for (std::string& spec : specs) {
    if (!accepts_residual(parse_method(spec), true)) spec = with_option(spec, "feedback", "none");
    for (const NamedLayout& layout : all) {
      write_steps(file, spec, layout, "mixed");
      if (layout.name != "many") continue;
      for (const char* data : {"laplace", "zeros", "denormals", "not_finite"}) write_steps(file, spec, layout, data);
    }
  }
  // atomo decomposes matrices with a short side of up to 512
  write_steps(file, "atomo", {"limits", Layout{}.add("inside", {100, 130}).add("outside", {513, 514})}, "mixed");
  // matrices that are viewed transposed travel behind the others
  Layout both;
  both.add("filter", {3, 3, 8, 16}).add("embedding", {50, 12}, true).add("linear", {30, 20});
  for (const char* spec : {"powersgd:matrix=authors", "powersgd:variant=one_sided:matrix=authors"})
    write_steps(file, spec, {"views", both}, "mixed");
  require(file.good(), "cannot write {}", argv[1]);
}
