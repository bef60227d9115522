#include "gradcomp/core/registration.hpp"

#include <gmock/gmock.h>

#include "error_of.hpp"

namespace gradcomp {
namespace registration_test {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

// Each test has its own type, because registered entries stay for the rest of the program.
template <int>
struct Named {
  std::string name;
};
struct Described {
  struct {
    std::string name;
  } info;
};

template <class E>
std::vector<std::string> names(const std::vector<E>& entries) {
  std::vector<std::string> list;
  for (const E& entry : entries) list.push_back(entry.name);
  return list;
}

TEST(Registration, NothingFromOutsideChangesNothing) {
  EXPECT_THAT(names(Registrations<Named<0>>::join({{"a"}, {"c"}})), ElementsAre("a", "c"));
}

TEST(Registration, StandsAmongOurOwnByName) {
  register_entry(Named<1>{"b_2"});
  register_entry(Named<1>{"a"});
  EXPECT_THAT(names(Registrations<Named<1>>::join({{"aa"}, {"c"}})), ElementsAre("a", "aa", "b_2", "c"));
}

TEST(Registration, RefusedOnceTheListWasUsed) {
  Registrations<Named<2>>::join({{"a"}});
  EXPECT_THAT(error_of([] { register_entry(Named<2>{"late"}); }), HasSubstr("'late' comes after the list"));
}

TEST(Registration, RefusesNamesThatNoSpecCanSay) {
  for (const char* name : {"", "top k", "a:b", "a+b", "a,b", "Big"}) {
    EXPECT_THAT(error_of([&] { register_entry(Named<3>{name}); }), HasSubstr("allowed: lower-case letters")) << name;
  }
}

TEST(Registration, RefusesANameInUse) {
  register_entry(Described{{"top_k"}});
  const auto join = [] { Registrations<Described>::join({{{"top_k"}}}); };
  EXPECT_THAT(error_of(join), HasSubstr("two entries called 'top_k'"));
  EXPECT_THAT(error_of(join), HasSubstr("two entries called 'top_k'"));  // at every call, not only at the first one
}

}  // namespace registration_test
}  // namespace gradcomp
