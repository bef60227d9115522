// Names of files: whatever they are, an error is one line that names them.
#include "gradcomp/data/files.hpp"

#include <gmock/gmock.h>

#include "error_of.hpp"
#include "gradcomp/data/dataset.hpp"
#include "gradcomp/data/registry.hpp"
#include "unit/data/temp_dir.hpp"

namespace gradcomp::data {
namespace files_test {

using test::error_of;
using ::testing::HasSubstr;

TEST(Files, ANameThatIsTooLongIsAnErrorOfOurs) {
  const std::string name(300, 'n'), reason = "cannot read '" + name + "': File name too long";
  EXPECT_EQ(error_of([&] { status_of(name); }), reason);
  EXPECT_EQ(error_of([&] { is_folder(name); }), reason);
  EXPECT_EQ(error_of([&] { read_file(name); }), reason);
  EXPECT_EQ(error_of([&] { files_in(name, ".npy"); }), "cannot read the folder '" + name + "': File name too long");
  for (const char* kind : {"cifar10:", "cifar100:", "packed:"}) {
    EXPECT_EQ(error_of([&] { open_dataset(kind + name); }), reason) << kind;
  }
  for (const char* kind : {"ptb:", "text:"}) EXPECT_EQ(error_of([&] { open_text(kind + name); }), reason) << kind;
}

TEST(Files, AFolderIsReadInOrder) {
  const gradcomp::test::TempDir dir;
  for (const char* name : {"b.npy", "a.npy", "c.txt"}) dir.write(name, {});
  const auto files = files_in(dir.path(), ".npy");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].filename(), "a.npy");
  EXPECT_TRUE(is_folder(dir.path()));
  EXPECT_FALSE(is_folder(files[0]));
  EXPECT_FALSE(is_folder(dir.path() + "/none"));
  EXPECT_THAT(error_of([&] { files_in(dir.path() + "/none", ".npy"); }), HasSubstr("none': No such file"));
}

}  // namespace files_test
}  // namespace gradcomp::data
