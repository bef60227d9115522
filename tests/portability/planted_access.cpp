// Code that host_access.hpp must stop, and code that it must accept. check_planted.cmake compiles each case.
#include "gradcomp/core/types.hpp"

namespace gradcomp {

template <class View>
float first_of(const View& values) {
  return values[0];
}

float sum_of_ends(const Vector<float>& device) {
#ifdef PLANTED_narrow
  using Range = Kokkos::RangePolicy<Exec>;
#else
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t> >;
#endif
  const auto count = static_cast<index_t>(device.size());
  Kokkos::parallel_for("test::fill", Range(0, count), KOKKOS_LAMBDA(const index_t i) { device(i) = 1; });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
#ifdef PLANTED_seen
  const auto read = [&] { return first_of(device); };  // through a template and a lambda
#else
  const auto read = [&] { return first_of(host); };
#endif
  return read() + host(host.size() - 1);
}

struct Test {
  virtual ~Test() = default;
  virtual void body() = 0;
};

namespace {

/// Like the class that GoogleTest's TEST makes: no code names body(), which is called through the virtual table.
struct Hidden final : Test {
  void body() override;
};
void Hidden::body() {
  const Vector<float> device("test", 3);
#ifdef PLANTED_hidden
  device(1) = 2;
#endif
}

}  // namespace

Test* make_test() { return new Hidden; }

}  // namespace gradcomp
