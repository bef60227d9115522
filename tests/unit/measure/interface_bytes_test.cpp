#include "gradcomp/measure/interface_bytes.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "error_of.hpp"

namespace gradcomp {
namespace interface_bytes_test {

/// Sends so many bytes to a port of this machine where nobody listens.
void send_to_myself(std::size_t bytes) {
  const int channel = socket(AF_INET, SOCK_DGRAM, 0);
  ASSERT_GE(channel, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::array<char, 1000> message{};
  ASSERT_LE(bytes, message.size());
  sendto(channel, message.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  close(channel);
}

TEST(InterfaceBytes, GrowByWhatIsSentAndItsHeaders) {
  const index_t before = bytes_sent_over("lo");
  send_to_myself(1000);
  EXPECT_GE(bytes_sent_over("lo") - before, 1000 + 28) << "headers of UDP and IP";
}

TEST(InterfaceBytes, AnUnknownInterfaceIsNamed) {
  EXPECT_THAT(test::error_of([] { bytes_sent_over("l"); }),
              testing::StartsWith("GRADCOMP_INTERFACE=l: the kernel counts no interface of this name"));
}

TEST(InterfaceBytes, AreCountedWhereTheEnvironmentNamesAnInterface) {
  unsetenv("GRADCOMP_INTERFACE");
  EXPECT_EQ(counted_interface(), "");
  setenv("GRADCOMP_INTERFACE", "eth7", 1);
  EXPECT_EQ(counted_interface(), "eth7");
  unsetenv("GRADCOMP_INTERFACE");
}

}  // namespace interface_bytes_test
}  // namespace gradcomp
