// The gradient of an embedding: several rows are added to one row of the table.
#include "gradcomp/nn/layers/embedding.hpp"

#include "unit/nn/support.hpp"

namespace gradcomp::nn {
namespace {

using test::Mirrored;
using test::random_vector;

TEST(AddRows, SumsTheRowsOfEachTokenInOrder) {
  constexpr index_t rows = 150, words = 7;
  for (const index_t columns : {1, 32, 45}) {
    const auto dy = random_vector<float>(rows * columns, 1), start = random_vector<float>(words * columns, 2);
    const Mirrored<std::int32_t> tokens(rows);
    for (index_t r = 0; r < rows; ++r)
      tokens(r) = static_cast<std::int32_t>(r * r % 11) - 2;  // for some tokens there is no row
    const Mirrored<float> expected(words * columns);
    expected.assign(start);
    for (index_t r = 0; r < rows; ++r) {
      if (tokens(r) < 0 || tokens(r) >= words) continue;
      for (index_t j = 0; j < columns; ++j) expected(tokens(r) * columns + j) += dy(r * columns + j);
    }
    for (const Path path : {Path::best, Path::device, Path::portable}) {
      const Mirrored<float> table(words * columns);
      table.assign(start);
      add_rows<float>(Exec(), Matrix<const float>::dense(dy.read(), rows, columns), tokens,
                      Matrix<float>::dense(table.write(), words, columns), path);
      EXPECT_TRUE(test::same_bits(table, expected)) << columns << " columns by " << static_cast<int>(path);
    }
  }
}

}  // namespace
}  // namespace gradcomp::nn
