#pragma once
// The data of the contenders of gradcomp-bench-kokkos-kernels: a gradient with the tensors of a model as one bucket of
// many matrices, random factors, and plain loops in double that check the answers.
#include <string>
#include <vector>

#include "gradcomp/kernels/low_rank/low_rank.hpp"

namespace gradcomp::bench {

/// A row-major matrix of the bucket, and where its factors are, which are stored column after column.
struct BucketMatrix {
  index_t first;  ///< element of the bucket at row 0, column 0
  int rows, columns, rank;
  index_t p, q;  ///< first elements of P [rank][rows] and Q [rank][columns] in their arrays
};

struct Bucket {
  /// Throws Error for a model that nn::model_shapes() does not know.
  Bucket(const Exec& exec, const std::string& model, int rank);

  Exec exec;
  Layout layout;
  kernels::LowRankPlan plan;
  Vector<float> gradient;
  Vector<float> p, q;  ///< random factors, the inputs of the operations
  std::vector<BucketMatrix> matrices;
  Vector<BucketMatrix> matrices_on_device;

  Vector<float> room_for_p() const;
  Vector<float> room_for_q() const;

  // These throw Error if the answer is wrong.
  void check_project(const Vector<float>& got, double factor) const;  ///< P = factor M Q
  void check_project_back(const Vector<float>& got) const;            ///< Q = M^T P
  void check_orthonormal(const Vector<float>& got) const;             ///< orthonormal columns that span those of P
  void check_norm(double got) const;                                  ///< L2 norm of the whole gradient
};

}  // namespace gradcomp::bench
