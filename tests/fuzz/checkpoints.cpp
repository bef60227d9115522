// Checkpoint files. Their checksum is made right, so that what lies behind it is read.
#include "fuzz/fuzz.hpp"
#include "gradcomp/train/snapshot.hpp"

namespace gradcomp::fuzz {

void read(Input input) {
  const Bytes file = with_checksum(input);
  const train::Snapshot snapshot = train::Snapshot::decode(file, "input");
  std::vector<double> numbers;
  snapshot.get("numbers", numbers);
}

std::vector<Bytes> seeds() {
  train::Snapshot snapshot;
  snapshot.put("numbers", std::vector<double>{1, 2.5, -0.0});
  snapshot.put("none", std::vector<double>{});
  snapshot.put("rank, seed, step", std::vector<index_t>{0, 1, 2});
  const auto file = snapshot.encode();
  return {with_choice({}, {reinterpret_cast<const char*>(file.data()), file.size() - 4})};
}

}  // namespace gradcomp::fuzz
