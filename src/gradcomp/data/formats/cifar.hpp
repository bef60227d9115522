#pragma once
// CIFAR-10 and CIFAR-100 as published (Krizhevsky 2009, "binary version"). A record has 1 label byte (CIFAR-100: 2, the
// coarse and then the fine label) and 3072 pixel bytes (1024 red, 1024 green, 1024 blue, in rows of 32). The files of
// CIFAR-10 are data_batch_1.bin .. data_batch_5.bin and test_batch.bin with 10,000 records each. Those of CIFAR-100 are
// train.bin with 50,000 records and test.bin with 10,000.
#include <string>

#include "gradcomp/data/dataset.hpp"

namespace gradcomp::data {

/// Reads the six files in `folder`, or in its sub-folder cifar-10-batches-bin, which the published archive contains.
/// Pixels are put in the order HWC (height, width, channels). `records` is the number of records per file; only tests
/// use fewer. Throws Error that names the file if it is missing, has another size than expected or holds a label
/// above 9. describe() fills in mean, std and crc.
ImageData read_cifar10(const std::string& folder, index_t records = 10'000);

/// Does the same with the two files of CIFAR-100 (sub-folder cifar-100-binary), with its 100 fine or its 20 `coarse`
/// labels. There are 5 x `records` training images.
ImageData read_cifar100(const std::string& folder, bool coarse, index_t records = 10'000);

}  // namespace gradcomp::data
