// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithm 1) and its variants, one file each in detail/low_rank/.
//
// Every tensor of two or more dimensions is a matrix M: the rows are all extents but the last, the columns the last.
// The authors' matrices have a row for each output. With matrix=authors ours have too: tensors whose outputs come last
// (filters, linear and LSTM weights) are seen transposed, embeddings as they are. The bytes differ only if one factor
// travels in a step. Tensors that a factorisation would not shrink (by the factor min_rate), above all vectors, travel
// whole in round 0, without error feedback. A column of a kept factor that became zero (by a gradient of zeros or of
// lower rank) is drawn again.
//
// The memory keeps a - out with the global out, as in the authors' code. a - P Q_w^T with the rank's own Q_w would give
// the same sequence of means, since only the mean of the memories enters. Weight decay and momentum come after
// decompression (algorithm 2, lines 11 to 13): the optimiser applies its own, because it sees only `out`. The authors
// step by `out` + momentum ("nesterov" in their code); gradcomp-train --nesterov=powersgd does so.
//
// The defaults are the authors': every matrix is compressed, from the first step on. PyTorch's hook has min_rate=2 and
// start_step=1000.
//
// A rank whose gradient is not finite puts NaN into element 0 of round 0. Every rank sees it in the sum.
#include <string>

#include "gradcomp/compressors/detail/low_rank/low_rank_method.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry powersgd() {
  Info info;
  info.name = "powersgd";
  info.summary =
      "warm-started low-rank factors of every matrix, whole vectors; with granularity=bucket, all tensors form one "
      "vector";
  info.paper = "Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019";
  info.family = Info::Family::low_rank;
  info.property = Info::Property::contraction;
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducer = "allreduce";
  info.feedback = "residual";
  info.granularity = "tensor";
  info.parameters = {
      Parameter::integer("rank", "4", 1, 32, "columns of the factors, at most the smaller extent"),
      Parameter::choice("variant", "two_sided", {"two_sided", "cold", "one_sided", "unbiased"},
                        "cold: two_sided that starts from a random factor in every step; one_sided: one factor in each "
                        "step, in turn (ACP-SGD); unbiased: one random factor, without feedback"),
      Parameter::choice("orthogonalise", "gram_schmidt", {"gram_schmidt", "householder"},
                        "how columns become orthonormal; householder keeps linearly dependent columns"),
      Parameter::real("min_rate", "1", 1, 1e6, "a matrix is factored if rank (rows + columns) min_rate < rows columns"),
      Parameter::integer("start_step", "0", 0, 1e9, "first step that compresses; earlier steps send everything whole"),
      Parameter::choice("matrix", "last", {"last", "authors"},
                        "shape of a matrix; last: all extents except the last x the last; authors: outputs x all other "
                        "extents")
          .as_added(),
      Parameter::choice(
          "side", "fixed", {"fixed", "alternating"},
          "unbiased: which factor is random; fixed: that of the columns; alternating: in odd steps that of the rows")
          .as_added(),
  };
  info.bytes_formula =
      "4 (sum over matrices of r (rows + columns) + elements of all other tensors), r = min(rank, rows, columns); "
      "matrices with r (rows + columns) min_rate >= rows columns count as other; one_sided, side=alternating: "
      "r rows and r columns in turn, unbiased: r rows; before start_step 4 n";
  info.compress = {2, 0, 1};
  info.decompress = {0, 1, 1};  // the memory gets the rest of what all ranks decode
  return {info, [info](const ParameterValues& options) {
            const std::string& variant = options.text("variant");
            return variant == "one_sided"  ? make_one_sided(info, options)
                   : variant == "unbiased" ? make_unbiased_low_rank(info, options)
                                           : make_two_sided(info, options);
          }};
}

}  // namespace gradcomp::compressors
