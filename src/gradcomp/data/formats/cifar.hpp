#pragma once
// CIFAR-10 and CIFAR-100 as published (Krizhevsky 2009, "binary version"): records of 1 label byte (CIFAR-100: 2, the
// coarse and the fine one) and 3072 pixel bytes (1024 red, 1024 green, 1024 blue, rows of 32). CIFAR-10:
// data_batch_1.bin .. data_batch_5.bin and test_batch.bin with 10,000 records each; CIFAR-100: train.bin with 50,000,
// test.bin with 10,000.
#include <string>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

/// Reads the six files in `folder` (or in its sub-folder cifar-10-batches-bin, as the archive unpacks), pixels turned
/// to HWC. `records` per file: 10,000, less in tests only. Throws Error naming the file when one is missing, has
/// another size (found and expected) or holds a label above 9. Mean, std and crc are left to describe().
ImageData read_cifar10(const std::string& folder, index_t records = 10'000);

/// The same for the two files of CIFAR-100 (sub-folder cifar-100-binary): its 100 fine labels or its 20 `coarse` ones;
/// 5 x `records` training images.
ImageData read_cifar100(const std::string& folder, bool coarse, index_t records = 10'000);

}  // namespace gradcomp::data
