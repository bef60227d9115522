#pragma once
// A separate execution space instance. On a device it uses a stream that waits for no other stream, including the
// legacy stream. On hosts, where launches end before they return, it is the default instance.
#include <memory>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

class Stream {
 public:
  /// A stream on the device of Exec(). Make it after Kokkos::initialize() and destroy it before Kokkos::finalize().
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const Exec& exec() const { return *m_exec; }

 private:
  std::unique_ptr<Exec> m_exec;
};

}  // namespace gradcomp
