#include "gradcomp/core/stream.hpp"

#include "gradcomp/core/device_runtime.hpp"

namespace gradcomp {

#ifdef GRADCOMP_DEVICE_RUNTIME

Stream::Stream() {
  device::Stream stream{};
  check_device(device::stream_create(&stream), "create a stream");
  m_exec = std::make_unique<Exec>(stream);
}

Stream::~Stream() {
  const device::Stream stream = device::stream_of(*m_exec);
  m_exec.reset();  // it fences the stream
  device::stream_destroy(stream);
}

#else

Stream::Stream() : m_exec(std::make_unique<Exec>()) {}
Stream::~Stream() = default;

#endif

}  // namespace gradcomp
