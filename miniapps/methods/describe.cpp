#include "describe.hpp"

#include <fmt/ranges.h>

#include <numeric>

#include "gradcomp/exchange/exchange.hpp"
#include "gradcomp/report/table.hpp"

using namespace gradcomp;

namespace {

/// Payload bytes of one step by the method's formula. Sparsifiers count with their target density.
index_t step_bytes(const MethodSpec& method, const Layout& layout, const std::vector<BucketRange>& buckets) {
  index_t sum = 0;
  for (const auto& bucket : buckets) {
    const Layout seen = seen_by(method, layout.slice(bucket.first, bucket.last));
    const auto state = method.compressor->prepare(seen);
    const index_t kept = std::accumulate(state->target.begin(), state->target.end(), index_t{0});
    sum += method.compressor->payload_bytes(seen, kept);
  }
  return sum;
}

}  // namespace

void describe(const Layout& layout, const std::vector<MethodSpec>& methods, const train::Options& options,
              report::ResultFile& file) {
  const auto buckets = buckets_of(layout, options.strategy_options().exchange);
  report::Table tensors({"tensor", "shape", "elements", "matrix", "bucket"});
  for (std::size_t s = 0; s < layout.segments.size(); ++s) {
    const Segment& segment = layout.segments[s];
    std::size_t bucket = 0;
    while (s < buckets[bucket].first || s >= buckets[bucket].last) ++bucket;
    tensors.row({segment.name, fmt::format("{}", fmt::join(segment.shape, "x")), fmt::format("{}", segment.count),
                 segment.is_matrix() ? fmt::format("{}x{}", segment.rows(), segment.columns()) : "-",
                 fmt::format("{}", bucket)});
  }
  const double dense = 4.0 * static_cast<double>(layout.count());
  report::Table bytes({"method", "bytes per step", "compression ratio"});
  for (const auto& method : methods) {
    const index_t payload = step_bytes(method, layout, buckets);
    const bool fixed = method.compressor->info().fixed_bytes;
    bytes.row({method.label, fmt::format("{}{}", fixed ? "" : "<= ", payload),
               payload > 0 ? report::format_number(dense / static_cast<double>(payload)) : "-"});
    report::Row row("describe/" + options.model + "/" + method.label);
    row.method(method.text, method.canonical, method.label)
        .set("model", options.model)
        .set("parameters", layout.count())
        .set("dense_bytes", dense)
        .set("payload_bytes", payload);
    file.add(row);
  }
  file.write();
  tensors.print();
  fmt::print("\n{}: {} parameters in {} tensors, {} buckets\n\n", options.model, layout.count(), layout.segments.size(),
             buckets.size());
  bytes.print();
}
