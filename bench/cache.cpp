#include "cache.hpp"

#include <algorithm>

#include "gradcomp/report/processor.hpp"

namespace gradcomp::bench {

index_t last_level_cache([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  return exec.cuda_device_prop().l2CacheSize;
#elif defined(KOKKOS_ENABLE_HIP)
  return exec.hip_device_prop().l2CacheSize;
#else
  report::Json processor;
  report::add_processor(processor);
  index_t largest = 0;
  for (const auto& cache : processor["caches"]) largest = std::max(largest, cache["size"].get<index_t>());
  return largest;
#endif
}

}  // namespace gradcomp::bench
