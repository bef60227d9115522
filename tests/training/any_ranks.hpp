#pragma once
// Every strategy on any number of ranks, without a model.
#include <thread>

#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {

/// Every strategy that can run on so many ranks.
inline std::vector<std::string> strategies_on(int ranks) {
  std::vector<std::string> names = {"overlapped",
                                    "synchronous",
                                    "accumulate:every=2",
                                    "local:period=2",
                                    "local:period=2:inner=mean:outer_momentum=0.5",
                                    "priority:credit=1:bucket_kib=1",
                                    "priority:credit=3:bucket_kib=1:order=backward",
                                    "priority:credit=1000:bucket_kib=1:order=tac",
                                    "servers",
                                    "servers:servers=1",
                                    "servers:mode=async",
                                    "servers:mode=bounded:bound=0",
                                    "servers:mode=bounded:bound=2:servers=1",
                                    "servers:dedicated=on:servers=1",
                                    "servers:dedicated=on:servers=2:mode=async",
                                    "servers:dedicated=on:servers=1:mode=bounded:bound=0"};
  std::erase_if(names, [ranks](const std::string& name) {
    const int servers = name.find("servers=2") != std::string::npos ? 2 : 1;
    return name.find("dedicated=on") != std::string::npos && ranks <= servers;  // a worker is needed too
  });
  return names;
}

inline Setting without_forward(const std::string& method, const std::string& strategy) {
  Setting setting{method, strategy};
  setting.clip = 0;
  // Without a forward pass, only drain() ends a step of `priority` before the next gradient is written.
  setting.drains = strategy.starts_with("priority");
  return setting;
}

/// In every step another rank is late.
inline void come_late(const Transport& comm, index_t step) {
  if ((step + comm.rank()) % comm.size() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace gradcomp::train::test
