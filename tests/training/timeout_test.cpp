// --timeout: with every strategy, an exchange that does not end is an error.
#include <atomic>
#include <thread>

#include "gradcomp/comm/transports/callbacks.hpp"
#include "gradcomp/comm/transports/self.hpp"
#include "gradcomp/train/options.hpp"
#include "training/strategy_rig.hpp"

namespace gradcomp::train::test {
namespace timeout_test {

/// One rank. Once `stuck`, its allreduces wait for `released`, but at most a minute, so that a test that fails ends.
struct Peer {
  std::atomic<bool> stuck = false, released = false;
  std::atomic<int> inside = 0;

  bool carry(const Exec& exec, const Call& call, Found& found) {
    ++inside;
    for (int i = 0; i < 60000 && stuck && !released && std::holds_alternative<AllReduce>(call); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!stuck) found = gradcomp::run(*make_self(), exec, call);
    --inside;
    return true;
  }
};

Callbacks functions_of(const std::shared_ptr<Peer>& peer) {
  Callbacks all{0, 1, "peer", false, true, nullptr, nullptr};
  all.carry = [peer](const Exec& exec, const Call& call, Found& found) { return peer->carry(exec, call, found); };
  all.split = [peer](int, int) { return functions_of(peer); };
  return all;
}

TEST(TimeLimit, EndsAStepWhosePeersAreGone) {
  for (const char* strategy : {"overlapped", "synchronous", "accumulate:every=1", "local:period=1:outer_rate=0.5"}) {
    const auto peer = std::make_shared<Peer>();
    const auto transport = make_callbacks(functions_of(peer));
    std::string error;
    {
      StrategyRig rig({"fp32", strategy, "sgd", 0.5}, *transport);
      peer->stuck = true;  // the first step already: one that works might take longer than the limit beside a load
      try {
        rig.step(0);
      } catch (const Error& caught) {
        error = caught.what();
      }
      peer->released = true;
    }
    EXPECT_EQ(error, "peer: a call of allreduce did not end within 0.5 s; a peer is gone or hangs") << strategy;
    while (peer->inside > 0) std::this_thread::yield();
  }
}

TEST(TimeLimit, ReachesTheExchangeFromTheOptions) {
  Options options;
  EXPECT_EQ(options.strategy_options().exchange.limit_seconds, 0) << "0 means no limit";
  options.timeout = 2.5;
  EXPECT_EQ(options.strategy_options().exchange.limit_seconds, 2.5);
  options.check();
  options.timeout = -1;
  EXPECT_THROW(options.check(), Error);
}

}  // namespace timeout_test
}  // namespace gradcomp::train::test
