#pragma once
// Messages between two ranks over an emulated link: a message leaves when the sender's direction is free, and occupies
// the receiver's direction when it arrives.
#include <memory>
#include <vector>

#include "gradcomp/comm/detail/emulated_link.hpp"
#include "gradcomp/comm/detail/timer.hpp"
#include "gradcomp/core/event.hpp"

namespace gradcomp::comm {

class EmulatedMessages final : public Operation {
 public:
  void reset() { m_messages.clear(); }
  /// Starts a Send, by a task of `timer`, when the link is free and after the earlier work of `exec`; or starts a
  /// Receive at once. `inner` carries it out. Throws Error for a Send if `inner` is not concurrent().
  void add(const Exec& exec, const Call& call, Transport& inner, const std::shared_ptr<EmulatedLink>& link,
           Timer& timer);

  bool test() override;
  void wait() override;

 private:
  struct Message {
    Call call;
    std::shared_ptr<EmulatedLink> link;
    std::shared_ptr<Timer::Task> departure;  ///< of a send: the task that starts `inner`
    Completion inner;
    Event ready;  ///< the end of the sender's earlier work
    bool landed = false;
  };

  bool land(std::size_t index, bool block);

  std::vector<std::shared_ptr<Message>> m_messages;
};

}  // namespace gradcomp::comm
